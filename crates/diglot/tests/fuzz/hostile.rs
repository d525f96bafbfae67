//! Hostile names and comments: nothing of them becomes Rust, SQL, HTML or Markdown.

use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};
use diglot_tools::review::{Request, Version};
/// What somebody might write to get out of a comment, a name or a text.
const HOSTILE: [&str; 25] = [
    "\"] fn evil() {} #[doc = \"",
    "*/ DROP TABLE job; /*",
    "\\",
    "\\\"",
    "r#\"##\"#",
    "{}{0}{{",
    "\u{2028}fn evil() {}",
    "\u{202e}\u{0}",
    "]]>",
    "'; DROP TABLE job; --",
    "#![allow(unused)]",
    "\rfn evil() {}",
    "compile_error!(\"x\")",
    "$crate",
    "/** evil",
    "//! evil",
    "%s%n",
    "<evil>",
    "\" onmouseover=\"evil()",
    "' onmouseover='evil()",
    "--><evil><!--",
    "</script><evil>",
    "```",
    "`` ` ```` <evil>",
    "](evil:x) @evil #1",
];

/// Nothing in a name or a comment becomes code.
#[test]
fn names_and_comments_stay_what_they_are() {
    let schema = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, lane TEXT NOT NULL);";
    let page = |comment: &str, name: &str, inside: &str| {
        format!("-- {comment}\n-- name: {name} :opt\nSELECT job.lane {inside} FROM job WHERE job.id = :id;\n")
    };
    let compiled = |page: &str, noun: &str| {
        let mut sources = Sources::default();
        for dialect in ["sqlite", "pg"] {
            sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
            sources.add(SourceFile::new(format!("sql/{dialect}/{noun}.sql"), page));
        }
        compile(&Inputs { sources, ..Inputs::default() })
    };
    let plain = compiled(&page("Reads a lane.", "job_lane", ""), "job");
    assert!(plain.diagnostics.is_empty());
    let items = |rust: &str| {
        let mut file = syn::parse_file(rust).expect("what is generated is Rust");
        strip(&mut file.items);
        prettyplease::unparse(&file)
    };
    for text in HOSTILE {
        let documented = compiled(&page(text, "job_lane", ""), "job");
        assert!(!documented.has_errors(), "{text:?}");
        assert!(
            items(&documented.rust) == items(&plain.rust),
            "the comment {text:?} becomes code:\n{}",
            documented.rust
        );
        let commented = compiled(&page("Reads a lane.", "job_lane", &format!("-- {text}\n")), "job");
        if !commented.has_errors() {
            assert_eq!(commented.texts[0].sql, plain.texts[0].sql, "the comment {text:?} becomes SQL");
        }
        // A name that is none is refused, and the error that shows it is one literal.
        for (name, noun) in [(text, "job"), ("job_lane", text)] {
            let refused = compiled(&page("Reads a lane.", name, ""), noun);
            let parsed = syn::parse_file(&refused.rust).expect("what is generated is Rust");
            let evil = |item: &syn::Item| matches!(item, syn::Item::Fn(function) if function.sig.ident == "evil");
            assert!(!parsed.items.iter().any(evil), "{name:?} {noun:?}:\n{}", refused.rust);
            assert!(refused.texts.iter().all(|text| !text.sql.contains("DROP TABLE")), "{name:?} {noun:?}");
        }
    }
}

/// Nothing in a name, a comment, a reason or a plan becomes markup of the review.
#[test]
fn nothing_becomes_markup() {
    let schema = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, lane TEXT NOT NULL);";
    for text in HOSTILE {
        let quoted = text.replace('"', "\"\"");
        let literal = text.replace('\'', "''");
        let page = |extra: &str| {
            format!(
                "-- {text}\n-- name: job_lane :opt\n-- diverges(columns): {text} and four words more\n-- {text}\n\
                 SELECT job.lane AS \"{quoted}\", '{literal}\n```\n<evil>' AS x{extra} FROM job /* {text} */ WHERE job.id = :id;\n\n\
                 -- name: {text} :opt\nSELECT 1;\n"
            )
        };
        let mut sources = Sources::default();
        for (dialect, extra) in [("sqlite", ""), ("pg", ", 1 AS y")] {
            sources.add(SourceFile::new(format!("schema/{dialect}/0001_{text}.sql"), schema));
            sources.add(SourceFile::new(format!("sql/{dialect}/job.sql"), page(extra)));
            sources.add(SourceFile::new(format!("sql/{dialect}/{text}.sql"), page("")));
        }
        let inputs = Inputs { sources, ..Inputs::default() };
        let compiled = diglot_tools::review::compile(&inputs);
        let plans = [(("job_lane".to_owned(), diglot::dialect::Dialect::Pg), format!("{text}\n```\n<evil>"))].into();
        let now = Version { inputs: &inputs, compiled: &compiled };
        let none = Inputs::default();
        let nothing = diglot_tools::review::compile(&none);
        for before in [None, Some((text, Version { inputs: &none, compiled: &nothing }))] {
            let request = Request { title: text, now, before, plans: &plans };
            let html = diglot_tools::review::html(&request);
            for evil in ["<evil", " onmouseover=\"", " onmouseover='", "--><"] {
                assert!(!html.contains(evil), "{text:?} becomes {evil} in\n{html}");
            }
            assert_eq!(html.matches("</script>").count(), 1, "{text:?}");
            let markdown = prose(&diglot_tools::review::markdown(&request));
            for evil in ["<evil", "](evil", "@evil", "-->\\<"] {
                assert!(!markdown.contains(evil), "{text:?} becomes {evil} in\n{markdown}");
            }
        }
    }
}

/// What of a Markdown text is no code: without fenced blocks and code spans.
fn prose(markdown: &str) -> String {
    let mut fence = None;
    let mut prose = String::new();
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if ticks >= 3 && !line[ticks..].contains('`') => fence = Some(ticks),
            None => {
                let mut rest = line;
                while let Some(start) = rest.find('`') {
                    let escaped = rest[..start].ends_with('\\');
                    let length = rest[start..].len() - rest[start..].trim_start_matches('`').len();
                    let behind = &rest[start + length..];
                    let end = behind.split_inclusive(|c| c != '`').scan(0, |at, run| {
                        let from = *at;
                        *at += run.len();
                        Some((from, run.len() - run.trim_start_matches('`').len()))
                    });
                    let close = end.into_iter().find(|(_, ticks)| *ticks == length).map(|(from, _)| from);
                    prose.push_str(&rest[..start]);
                    rest = match close.filter(|_| !escaped) {
                        Some(close) => &behind[close + length..],
                        None => behind,
                    };
                }
                prose.push_str(rest);
                prose.push('\n');
            }
            Some(open) if ticks >= open && line[ticks..].trim().is_empty() => fence = None,
            Some(_) => {}
        }
    }
    prose
}

/// Removes documentation at every depth.
fn strip(items: &mut [syn::Item]) {
    let plain = |attributes: &mut Vec<syn::Attribute>| attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    for item in items {
        match item {
            syn::Item::Trait(of) => {
                plain(&mut of.attrs);
                for item in &mut of.items {
                    if let syn::TraitItem::Fn(function) = item {
                        plain(&mut function.attrs);
                    }
                }
            }
            syn::Item::Mod(of) => {
                plain(&mut of.attrs);
                if let Some((_, items)) = &mut of.content {
                    strip(items);
                }
            }
            syn::Item::Struct(of) => {
                plain(&mut of.attrs);
                of.fields.iter_mut().for_each(|field| plain(&mut field.attrs));
            }
            syn::Item::Fn(of) => plain(&mut of.attrs),
            syn::Item::Impl(of) => plain(&mut of.attrs),
            _ => {}
        }
    }
}
