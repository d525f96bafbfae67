//! What the findings of every rule's cases say to write is written, and the finding is gone.

use diglot::config::Config;
use diglot::{Inputs, compile};

use super::follow::Followed;
use super::{cases, project};

#[test]
fn what_a_finding_says_to_write_helps() {
    let mut followed = Followed::default();
    for settings in ["", "generate = false"] {
        for case in cases() {
            let config = Config::parse(settings, "diglot.toml").expect("settings");
            let inputs: Inputs = project(config, case.fires, None);
            followed.all(&inputs, &|inputs| compile(inputs).diagnostics);
        }
    }
    println!("{} findings, {} ways", followed.findings, followed.ways);
    assert!(followed.findings > 60, "{} findings", followed.findings);
    assert!(
        followed.failed.is_empty(),
        "{} ways do not help:\n{}",
        followed.failed.len(),
        followed.failed.join("\n\n")
    );
}
