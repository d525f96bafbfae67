//! The review page of this repository in a real browser: it opens, filters and follows links without an error, in
//! light and in dark, wide and narrow. `scripts/test -b` runs this; it needs Chromium and its driver.

mod driver;

use std::path::{Path, PathBuf};
use std::process::Command;

use driver::Browser;
use serde_json::{Value, json};

/// The page of the workspace that this crate is a part of.
fn page() -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("review.html");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"));
    let output = command.args(["review", "--root"]).arg(root).arg("--out").arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    file
}

/// How many articles fit, and how many of these are shown.
fn shown(browser: &Browser, fits: &str) -> (u64, u64) {
    let script = format!(
        "const fits = {fits}; const all = [...document.querySelectorAll('article')];
         return [all.filter(fits).length, all.filter((a) => !a.hidden).length,
                 all.filter((a) => fits(a) && !a.hidden).length];"
    );
    let counts: Vec<u64> = serde_json::from_value(browser.run(&script)).unwrap();
    assert_eq!(counts[1], counts[2], "something is shown that does not fit {fits}");
    (counts[0], counts[1])
}

fn choose(browser: &Browser, id: &str, value: &str) {
    browser.run(&format!(
        "const field = document.getElementById({}); field.value = {};
         field.dispatchEvent(new Event('input', {{ bubbles: true }}));",
        json!(id),
        json!(value)
    ));
}

#[test]
#[ignore = "needs chromium and chromedriver: scripts/test -b"]
fn the_page_opens_filters_and_follows_links() {
    let url = format!("file://{}", page().display());
    let browser = Browser::start();
    browser.open(&url);
    let all = browser.run("return document.querySelectorAll('article').length").as_u64().unwrap();
    assert!(all > 100, "{all} statements");
    let count = || browser.run("return document.getElementById('-count').value");
    assert_eq!(count(), json!(format!("{all} of {all}")));

    for state in ["equal", "declared"] {
        choose(&browser, "-state", state);
        let (fit, seen) = shown(&browser, &format!("(a) => a.dataset.state === '{state}'"));
        assert!(fit > 0 && fit < all && seen == fit, "{state}: {seen} of {fit}");
    }
    choose(&browser, "-state", "");
    choose(&browser, "-noun", "lease");
    let (fit, seen) = shown(&browser, "(a) => a.dataset.noun === 'lease'");
    assert!(fit > 0 && seen == fit);
    assert_eq!(count(), json!(format!("{fit} of {all}")));
    assert_eq!(browser.run("return location.hash"), json!("#?noun=lease"));

    // A filter that is sent to somebody is the same filter there; another link shows what the filter hides.
    browser.open("about:blank");
    browser.open(&format!("{url}#?noun=lease"));
    assert_eq!(count(), json!(format!("{fit} of {all}")));
    let hidden = browser.run("return [...document.querySelectorAll('article')].find((a) => a.hidden).id");
    browser.run(&format!("location.hash = {hidden}"));
    assert!(browser.holds(&format!("!document.getElementById({hidden}).hidden")));
    assert!(browser.holds(&format!("document.activeElement === document.getElementById({hidden})")));

    browser.run("document.querySelector('article .chip').click()");
    let table = browser.run("return document.getElementById('-table').value");
    let (fit, seen) = shown(&browser, &format!("(a) => a.dataset.tables.split('\\n').includes({table})"));
    assert!(fit > 0 && seen == fit);
    choose(&browser, "-find", "no statement has these words");
    assert!(browser.holds("!document.getElementById('-none').hidden"));
    browser.run("document.querySelector('button[type=reset]').click()");
    assert!(browser.holds(&format!("document.getElementById('-count').value === '{all} of {all}'")));

    assert_eq!(browser.complaints(), Vec::<Value>::new());
}

#[test]
#[ignore = "needs chromium and chromedriver: scripts/test -b"]
fn the_page_is_used_by_keyboard() {
    let browser = Browser::start();
    browser.open(&format!("file://{}", page().display()));
    let is_active = |id: &Value| browser.holds(&format!("document.activeElement.id === {id}"));
    let first = browser.run("return document.querySelectorAll('article')[0].id");
    let second = browser.run("return document.querySelectorAll('article')[1].id");
    for (key, id) in [("j", &first), ("j", &second), ("k", &first)] {
        browser.press(key);
        assert!(is_active(id), "{key} leads to {id}");
    }
    let was = browser.run("return document.querySelector('article .facts').open");
    browser.press("f");
    assert!(browser.holds(&format!("document.querySelector('article .facts').open !== {was}")));
    browser.press("/");
    assert!(is_active(&json!("-find")));
    // Letters are letters while somebody types.
    browser.press("j");
    assert!(browser.holds("document.getElementById('-find').value === 'j'"));
    assert_eq!(browser.complaints(), Vec::<Value>::new());
}

#[test]
#[ignore = "needs chromium and chromedriver: scripts/test -b"]
fn the_page_fits_wide_and_narrow_windows_in_light_and_dark() {
    let browser = Browser::start();
    let url = format!("file://{}", page().display());
    browser.open(&url);
    let paper = || browser.run("return getComputedStyle(document.body).backgroundColor");
    let theme = |name: &str| {
        while browser.run("return document.querySelector('#-theme span').textContent") != json!(name) {
            browser.run("document.getElementById('-theme').click()");
        }
        paper()
    };
    assert_ne!(theme("light"), theme("dark"));
    for (name, width, height) in [("wide", 1400, 950), ("narrow", 500, 900)] {
        browser.resize(width, height);
        // Nothing but the panes of code is wider than the window.
        let overflow =
            browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, json!(0), "{name}");
        for colour in ["light", "dark"] {
            theme(colour);
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
            browser.run("scrollTo(0, 0)");
            browser.screenshot(&folder.join(format!("review-{name}-{colour}.png")));
            browser.run("document.getElementById('-locks').scrollIntoView()");
            browser.screenshot(&folder.join(format!("review-locks-{name}-{colour}.png")));
        }
    }
    // The picture of the locks is there, and an arc is drawn in a colour that is not the paper's.
    let arc = "document.querySelector('#-locks .arc path')";
    assert!(browser.holds(&format!("{arc}.getBoundingClientRect().height > 10")));
    assert_ne!(browser.run(&format!("return getComputedStyle({arc}).stroke")), paper());
    // A page keeps the choice.
    browser.open(&url);
    assert_eq!(browser.run("return document.documentElement.dataset.theme"), json!("dark"));
    assert_eq!(browser.complaints(), Vec::<Value>::new());
}
