//! `cargo diglot verify`: whether programs of an older release and of now can be at work on one database, while a new
//! release is rolled out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use diglot::Detail;
use diglot::diagnostic::{Diagnostic, Severity};
use diglot::dialect::{Both, Dialect};
use diglot::rules::{RELEASE_DIFFERS, UNUSED_ALLOW};
use diglot::schema;
use diglot::source::{FileId, SourceFile, Sources, Span};
use diglot_migrate::tokens;
use diglot_tools::prove::allowed_to_differ;

use crate::cli::Verify;
use crate::failure::Failure;
use crate::host::Host;
use crate::prove::beside::{self, Clash, Found, Release};
use crate::prove::first_sorting;
use crate::{Outcome, check, report, revision, runtime};

/// How many statements are named in a line.
const NAMED: usize = 12;
/// What the files of the project are called beside those of a revision.
const NOW: &str = "now";

/// Both releases side by side.
struct Sides {
    revision: String,
    old: Release,
    new: Release,
    /// The files of both, those of now first.
    sources: Sources,
    /// How many of them are of now.
    own: u32,
    /// The statements and migrations that are allowed to differ, and where now says so.
    allowed: Vec<(String, Span)>,
}

pub(crate) fn run(arguments: &Verify) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let tree = revision::check_out(&root, &arguments.since)?;
    let folder = tree.project();
    if !check::is_project(&folder) {
        let what = format!(
            "`{}` has no project where {} is: neither `diglot.toml` nor a folder `sql`; name a later revision",
            arguments.since,
            root.display()
        );
        return Err(Failure::Git { what });
    }
    report::line("compiling both releases");
    let sides = Sides::new(&arguments.since, release(&folder)?, release(&root)?);
    for (side, is_old) in [(&sides.old, true), (&sides.new, false)] {
        if side.inputs.findings.iter().any(|finding| finding.severity == Severity::Error) {
            let mut shown = side.inputs.clone();
            shown.sources.rename(|path| if is_old { format!("{}:{path}", sides.revision) } else { path.to_owned() });
            return check::found(&shown, &side.compiled, &side.inputs.findings, "nothing was run");
        }
    }
    let parted = sides.parted().into_iter().filter(|(stem, _)| !sides.allows(stem));
    let mut findings: Vec<Diagnostic> = parted.map(|(_, finding)| finding).collect();
    let steps = Both::of(|dialect| sides.steps(dialect));
    if steps.iter().all(Vec::is_empty) {
        report::findings(&sides.sources, &findings, arguments.format)?;
        report::line(&match findings.is_empty() {
            true => format!("no migration since {}: programs of both have the same tables", sides.revision),
            false => format!("no other migration since {}, so nothing was run", sides.revision),
        });
        return Ok(outcome(&findings));
    }
    let texts = steps.each_ref().map(|steps| steps.iter().map(|(_, text)| *text).collect::<Vec<&str>>());
    let work = async |host: &Host| beside::run(&sides.old, &sides.new, &texts, host).await;
    let sorting = first_sorting(&sides.old.inputs);
    let found = runtime()?.block_on(Host::during(&arguments.postgres, sorting, work))?;
    findings
        .extend(found.refused.iter().map(|(dialect, fault)| sides.refused(*dialect, &steps[*dialect], &fault.words)));
    let mut clashes: Vec<&Clash> = found.clashes.iter().filter(|clash| !sides.allows(&clash.name)).collect();
    clashes.sort_by_key(|clash| (!clash.is_old, &clash.name, clash.dialect));
    findings.extend(clashes.into_iter().map(|clash| sides.finding(clash)));
    if found.refused.is_empty() {
        findings.extend(sides.unneeded(&found));
    }
    report::findings(&sides.sources, &findings, arguments.format)?;
    sides.summary(&steps, &found).iter().for_each(|line| report::line(line));
    Ok(outcome(&findings))
}

fn outcome(findings: &[Diagnostic]) -> Outcome {
    if report::errors(findings) == 0 { Outcome::Clean } else { Outcome::Findings }
}

fn release(root: &Path) -> Result<Release, Failure> {
    let (inputs, compiled) = check::alone(root)?;
    Ok(Release { inputs, compiled })
}

impl Sides {
    fn new(revision: &str, old: Release, new: Release) -> Self {
        let mut sources = new.inputs.sources.clone();
        let own = u32::try_from(sources.iter().count()).unwrap_or(u32::MAX);
        for (_, file) in old.inputs.sources.iter() {
            let mut file: SourceFile = file.clone();
            file.path = format!("{revision}:{}", file.path);
            sources.add(file);
        }
        let allowed = allowed_to_differ(&new.inputs);
        Self { revision: revision.to_owned(), old, new, sources, own, allowed }
    }

    fn allows(&self, name: &str) -> bool {
        self.allowed.iter().any(|(allowed, _)| allowed == name)
    }

    /// Where something is allowed that no statement of these does.
    fn unneeded(&self, found: &Found) -> Vec<Diagnostic> {
        let mut needed: BTreeSet<&str> = found.clashes.iter().map(|clash| clash.name.as_str()).collect();
        needed.extend(self.parted().iter().map(|(stem, _)| *stem));
        let unneeded = self.allowed.iter().filter(|(name, _)| !needed.contains(name.as_str()));
        let finding = |(name, place): &(String, Span)| {
            let message = format!("{name} does not differ from {}: nothing is to be allowed", self.revision);
            let severity = Severity::Warning;
            let found = Diagnostic::error(UNUSED_ALLOW, message, *place, "the rule finds nothing here");
            Diagnostic { severity, ..found }.help("remove the line")
        };
        unneeded.map(finding).collect()
    }

    /// A place of the older release among the files of both.
    fn place(&self, span: Span, is_old: bool) -> Span {
        if is_old { Span { file: FileId(span.file.0 + self.own), ..span } } else { span }
    }

    /// The first line of a file.
    fn head(&self, file: FileId, is_old: bool) -> Span {
        let place = self.place(Span::new(file, 0..0), is_old);
        let end = self.sources.file(place.file).text.lines().next().map_or(0, str::len);
        Span::new(place.file, 0..end)
    }

    /// The migrations of now that the older release does not have.
    fn steps(&self, dialect: Dialect) -> Vec<(FileId, &str)> {
        let known = self.old.inputs.migrations(dialect);
        let files = self.new.inputs.migrations(dialect).into_iter();
        let missing = files.filter(|(_, stem)| known.iter().all(|(_, of)| of != stem));
        missing.map(|(id, _)| (id, schema::up(&self.new.inputs.sources.file(id).text))).collect()
    }

    /// The migrations of the older release that are gone, or read otherwise: no database that has run them knows.
    fn parted(&self) -> Vec<(&str, Diagnostic)> {
        let mut found = Vec::new();
        for dialect in Dialect::ALL {
            let files = self.new.inputs.migrations(dialect);
            for (id, stem) in self.old.inputs.migrations(dialect) {
                let then = &self.old.inputs.sources.file(id).text;
                let finding = match files.iter().find(|(_, of)| *of == stem) {
                    None => {
                        let message = format!("migration {stem} of {} is gone on {}", self.revision, dialect.title());
                        let place = self.head(id, true);
                        Diagnostic::error(RELEASE_DIFFERS, message, place, "databases have run this")
                            .help("keep migrations that have run, and undo what they do in a new one")
                    }
                    Some((own, _)) if !says_the_same(then, &self.new.inputs.sources.file(*own).text) => {
                        let message = format!("migration {stem} reads otherwise than in {}", self.revision);
                        let place = self.head(*own, false);
                        Diagnostic::error(RELEASE_DIFFERS, message, place, "databases have run what it was")
                            .help("leave migrations that have run as they are, and write what changes into a new one")
                    }
                    Some(_) => continue,
                };
                found.push((stem, finding.help(allowing(stem))));
            }
        }
        found
    }

    fn refused(&self, dialect: Dialect, steps: &[(FileId, &str)], words: &str) -> Diagnostic {
        let message = format!("{} does not take the migrations since {}: {words}", dialect.title(), self.revision);
        let place = self.head(steps.first().map_or(FileId(0), |(file, _)| *file), false);
        Diagnostic::error(RELEASE_DIFFERS, message, place, "the first of them")
            .help("`cargo diglot prepare` shows the place")
    }

    fn finding(&self, clash: &Clash) -> Diagnostic {
        let revision = self.revision.as_str();
        let (own, other) = if clash.is_old { (revision, NOW) } else { (NOW, revision) };
        let message = format!("{} of {own} on the tables of {other}: {}", clash.name, clash.shown.what);
        let at = Dialect::ALL.iter().position(|dialect| *dialect == clash.dialect).unwrap_or(0);
        let place = clash.places.get(at).or(clash.places.first()).copied().unwrap_or(Span::new(FileId(0), 0..0));
        let engine = clash.dialect.title();
        let mut finding =
            Diagnostic::error(RELEASE_DIFFERS, message, self.place(place, clash.is_old), format!("{engine} runs this"));
        let rows = clash.shown.grids(Detail::Short);
        finding.notes.extend(if rows.is_empty() { Some("all tables are empty".to_owned()) } else { None });
        finding.notes.extend(rows.iter().map(diglot::evidence::Grid::text));
        finding.notes.extend(clash.shown.arguments(Detail::Short).map(|arguments| format!("with {arguments}")));
        for (of, lines) in [revision, NOW].iter().zip(clash.shown.answers(Detail::Short)) {
            finding.notes.push(format!("{engine} on the tables of {of}: {}", lines.join("\n  ")));
        }
        if clash.is_old {
            let help = format!(
                "let the tables serve both until no program of {revision} is left (`cargo diglot explain \
                 release-differs`)"
            );
            return finding.help(help).help(allowing(&clash.name));
        }
        finding.severity = Severity::Warning;
        finding
            .help(format!("run the migrations before the first program of now starts, and none of {NOW} without them"))
            .help(allowing(&clash.name))
    }

    /// What was run, and both answers.
    fn summary(&self, steps: &Both<Vec<(FileId, &str)>>, found: &Found) -> Vec<String> {
        let revision = &self.revision;
        let of = |dialect: Dialect| {
            let count = report::counted(steps[dialect].len(), "migration");
            format!("{count} of {}", dialect.title())
        };
        let ran = report::counted(found.ran, "statement");
        let mut lines = vec![format!(
            "{} since {revision}: {ran} that they may touch, on {} databases of SQLite and {} of Postgres",
            Dialect::ALL.map(of).join(" and "),
            found.databases.sqlite,
            found.databases.pg,
        )];
        let empty: Vec<&str> = found.tables.difference(&found.filled).map(String::as_str).collect();
        if !empty.is_empty() && found.refused.is_empty() {
            lines.push(format!(
                "no row that a database takes was made for {}; say what their columns hold in `diglot.toml`, under `[words]` \
                 and `[prove.ranges]`",
                empty.join(", ")
            ));
        }
        for dialect in Dialect::ALL.into_iter().filter(|dialect| found.stopped[*dialect] > 0) {
            lines.push(format!(
                "{}: the migrations end on {} others, which `cargo diglot prepare` tells of",
                dialect.title(),
                found.stopped[dialect]
            ));
        }
        let asked = [
            (true, format!("programs of {revision} beside the migrations of now")),
            (false, format!("programs of now on the tables of {revision}")),
        ];
        for (is_old, asked) in asked {
            let clashes = found.clashes.iter().filter(|clash| clash.is_old == is_old);
            let (allowed, told): (Vec<&Clash>, Vec<&Clash>) = clashes.partition(|clash| self.allows(&clash.name));
            lines.push(match (found.refused.is_empty(), named(&told), named(&allowed)) {
                (false, ..) => format!("{asked}: unknown, since the migrations do not run"),
                (true, Some(names), _) => format!("{asked}: no, because of {names}"),
                (true, None, Some(names)) => format!("{asked}: yes, with what is allowed of {names}"),
                (true, None, None) => format!("{asked}: yes"),
            });
        }
        lines
    }
}

/// The statements, each with the databases on which it cannot run; nothing if there is none.
fn named(clashes: &[&Clash]) -> Option<String> {
    let mut of_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for clash in clashes {
        of_name.entry(&clash.name).or_default().push(clash.dialect.title());
    }
    let more = of_name.len().saturating_sub(NAMED);
    let mut names: Vec<String> =
        of_name.iter().take(NAMED).map(|(name, engines)| format!("{name} ({})", engines.join(", "))).collect();
    names.extend((more > 0).then(|| format!("{more} more")));
    (!names.is_empty()).then(|| names.join(", "))
}

/// How a difference is allowed.
fn allowing(name: &str) -> String {
    format!("or, if it is meant, in `divergences.sql`: `-- allow(release-differs.{name}): <why>`")
}

/// Whether two texts are the same but for comments and white space.
fn says_the_same(one: &str, other: &str) -> bool {
    let words = |text: &'_ str| tokens(text).map(|place| text[place].to_owned()).collect::<Vec<String>>();
    one == other || words(one) == words(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_a_migration_may_change() {
        let was = "-- Jobs.\nCREATE TABLE job (id bigint);";
        assert!(says_the_same(was, "CREATE TABLE job (\n  id bigint -- a number\n);"));
        assert!(!says_the_same(was, "CREATE TABLE job (id int);"));
    }
}
