//! The arguments of every subcommand.

use std::ffi::OsString;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

/// Compares SQL that is kept in two dialects, and asks the real engines about it.
#[derive(Debug, Parser)]
#[command(name = "cargo diglot", bin_name = "cargo diglot", version, arg_required_else_help = true)]
struct Cli {
    /// When to colour what is printed; `auto` asks the terminal, and NO_COLOR.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

/// When to colour what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that does not ask for no colour.
    Auto,
    /// Wherever it goes, NO_COLOR or not.
    Always,
    /// Nowhere.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    New(New),
    Translate(Translate),
    Check(Check),
    Extract(Extract),
    Baseline(Baseline),
    Prepare(Prepare),
    Review(Review),
    Prove(Prove),
    Plans(Plans),
    Locks(Locks),
    Explain(Explain),
    /// List the rules with what each finds.
    Rules,
    Mutate(Mutate),
    Catalog(Catalog),
    WithPostgres(WithPostgres),
    /// Serve an editor: a language server on standard input and output.
    ///
    /// Editors start it by themselves once they are told to; docs/editors.md has how for several.
    Lsp,
    Completions(Completions),
}

/// Print a script by which a shell completes commands and options, after `cargo diglot` and after `cargo-diglot`.
///
/// For bash, in ~/.bashrc: source <(cargo diglot completions bash)
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Make a project that builds, or what a crate lacks to be one.
///
/// An empty folder becomes a crate with one noun on both pages. A folder that has SQL and no Cargo.toml gets settings
/// by which pages are compared and nothing is generated. Nothing that is there is changed.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder; it may be new.
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// A server that allows to make a database, to ask about the first statements; without it: a throwaway server.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
    /// Make a crate although there is SQL and no Cargo.toml.
    #[arg(long = "crate")]
    pub(crate) make_crate: bool,
    /// Do not ask the engines yet.
    #[arg(long)]
    pub(crate) no_prepare: bool,
}

/// Add a pair of statements about a table, as a draft that compiles.
///
/// The verb says what it does: add, get, list, count, update, delete, or any other, which reads a row by its key.
#[derive(Debug, Args)]
pub(crate) struct New {
    #[command(flatten)]
    pub(crate) project: Project,
    /// The file's stem.
    pub(crate) noun: String,
    /// What it does.
    pub(crate) verb: String,
    /// The table, when the noun does not tell.
    #[arg(long)]
    pub(crate) table: Option<String>,
}

/// Draft the page that a statement lacks from the page that it has.
///
/// Comments and layout stay. What needs a decision is marked `-- decide:` in the draft.
#[derive(Debug, Args)]
pub(crate) struct Translate {
    #[command(flatten)]
    pub(crate) project: Project,
    /// The statement: noun_verb, or noun.noun_verb as a review's links have it.
    #[arg(value_name = "NOUN.STATEMENT")]
    pub(crate) statement: String,
    /// Write it into its file, at the place that it has on the other page. Without it: to standard output.
    #[arg(long)]
    pub(crate) write: bool,
}

/// Compile all pages and print the findings.
///
/// Needs no database. Exits with 0 when there is no finding, with 2 when there are findings, with 1 when
/// the tool itself failed.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) project: Project,
    /// How findings look.
    #[arg(long, value_enum, default_value_t = Format::Full)]
    pub(crate) format: Format,
    /// With `--format github`: mark the page that changed since this revision of the git repository, where a finding is
    /// about both. Without it: since the branch that GITHUB_BASE_REF names.
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,
    /// Also print how much was compared, how much of it is declared to differ, and how far each pair was tried that is
    /// the same when run.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Show every finding in every place, databases whole, and of every pair that is the same when run how far it was tried.
    #[arg(long)]
    pub(crate) full: bool,
    /// Show no more than so many findings.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Check every package of the Cargo workspace that has a diglot.toml.
    #[arg(long, conflicts_with_all = ["root", "package", "watch"])]
    pub(crate) workspace: bool,
    /// Be content when there is no pair. Without it that is an error: nothing was compared.
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// Make the changes that need nobody's look: delete declarations that are not needed, write seals that are
    /// asked for. The SQL stays as it is.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Go on and check again whenever a file changes, for editors; a line {"checked":…} ends each round.
    #[arg(long, conflicts_with = "fix")]
    pub(crate) watch: bool,
}

/// Show the statements that are read out of Go and Rust, with the line of each.
///
/// `[sql]` in diglot.toml names such files: `sqlite = "storage/sqlite/*.go"`. Statements that are put together at run
/// time are shown as that; they are not compared.
#[derive(Debug, Args)]
pub(crate) struct Extract {
    #[command(flatten)]
    pub(crate) project: Project,
}

/// Keep today's findings in diglot.baseline, so that only new ones fail.
///
/// Each is kept by its rule, its statement and the seal of what both pages say: another difference in the same place
/// is new. A kept finding that no longer occurs is an error of its own, so that the file only shrinks; this command
/// writes it again. Exits with 2 when there are findings that cannot be kept.
#[derive(Debug, Args)]
pub(crate) struct Baseline {
    #[command(flatten)]
    pub(crate) project: Project,
}

/// Change one page of every pair, one place at a time, and list the changes that `check` does not notice.
///
/// What survives means the same, or is declared to differ, or is a gap. Needs no database.
#[derive(Debug, Args)]
pub(crate) struct Mutate {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Try this many changes of each page of a statement, evenly spread; without it all.
    #[arg(long, value_name = "N")]
    pub(crate) most: Option<usize>,
    /// Hold the pages against a baseline that keeps today's findings. Without it every change of a pair that has a
    /// finding counts as noticed.
    #[arg(long)]
    pub(crate) baseline: bool,
}

/// Write what Postgres says of its own types, operators, functions and casts as data, which the compiler reads.
///
/// For work on diglot itself: one file for each major version of the server that is asked.
#[derive(Debug, Args)]
pub(crate) struct Catalog {
    /// Where the file goes.
    #[arg(default_value = "crates/diglot/src/engine", value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Write nothing; exit with 2 when the file is not what the server says.
    #[arg(long)]
    pub(crate) check: bool,
    /// A server that allows to make a database; without it: a throwaway server.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
}

/// Ask the real engines about every statement and record their answers in .sqlx.
///
/// SQLite is asked in process. Postgres is asked in a scratch database on the server that --postgres or
/// DIGLOT_POSTGRES_URL names, or on a throwaway server; DATABASE_URL is not read. Nothing is written while
/// there is a finding.
#[derive(Debug, Args)]
pub(crate) struct Prepare {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Write nothing; exit with 2 when something would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// A server that allows to make a database.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
}

/// Show every pair side by side, as one HTML file or as Markdown for a pull request.
///
/// The page needs no network and no database. It shows findings but does not judge: the exit code is 0.
#[derive(Debug, Args)]
pub(crate) struct Review {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show what changed since this revision of the git repository, with before and after.
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// A page, or a comment for a pull request.
    #[arg(long, value_enum, default_value_t = ReviewFormat::Html)]
    pub(crate) format: ReviewFormat,
    /// Where to write it. Without it: a page goes to target/diglot/review.html, Markdown to standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// How a review looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewFormat {
    /// One self-contained file for a browser.
    Html,
    /// Text that fits a comment on a pull request.
    Markdown,
}

/// Run both pages of every pair on the same data and compare what comes of it.
///
/// The data is made from the schema: keys and references hold, and values are those that the statements ask for,
/// the edges of each type, text that sorts and matches in different ways, NULL. Every case runs in a transaction
/// that is rolled back, on SQLite in process and in a scratch database as `prepare` makes one. Pairs with findings are
/// run as well, as far as the engines take their texts. Exits with 2 when `check` has findings, and when a pair
/// answers differently and does not declare it.
#[derive(Debug, Args)]
pub(crate) struct Prove {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Try this statement alone.
    #[arg(long, value_name = "NAME")]
    pub(crate) statement: Option<String>,
    /// The most rows of a table.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) rows: usize,
    /// How many cases each pair is tried on.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) cases: u64,
    /// Other numbers give other data.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A server that allows to make a database.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
}

/// Show how each engine would run every statement, and which tables it reads from end to end.
///
/// Statistics have no say: the tables are empty, Postgres plans for any values and with sequential scans switched
/// off wherever an index serves. A line that reads a table without an index has an exclamation mark.
#[derive(Debug, Args)]
pub(crate) struct Plans {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show this statement alone.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "save"])]
    pub(crate) statement: Option<String>,
    /// Compare with plans.txt and print what changed; exit with 2 when something did.
    #[arg(long, conflicts_with = "save")]
    pub(crate) check: bool,
    /// Keep the plans in plans.txt.
    #[arg(long)]
    pub(crate) save: bool,
    /// A server that allows to make a database.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
    /// Say instead of each statement of Postgres what becomes of it on a coordinator of Citus: whether it is one task on
    /// one shard, several, or refused. The tables are made in a schema of their own in that database, spread as
    /// `diglot.toml` says, and dropped.
    #[arg(long, value_name = "URL", conflicts_with_all = ["check", "save", "postgres"])]
    pub(crate) citus: Option<String>,
}

/// Show which rows statements and transactions wait for on Postgres while they hold others.
///
/// Circles come first. Triggers, functions and foreign keys of the schema count; what a SKIP LOCKED passes over is
/// nothing to wait for. Needs no database.
#[derive(Debug, Args)]
pub(crate) struct Locks {
    #[command(flatten)]
    pub(crate) project: Project,
}

/// Which project is meant.
#[derive(Debug, Args)]
pub(crate) struct Project {
    /// The project's folder. Without it: the nearest folder upwards that holds diglot.toml.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The package of the Cargo workspace that is the project.
    #[arg(short, long, value_name = "NAME", conflicts_with = "root")]
    pub(crate) package: Option<String>,
}

/// How findings look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Both pages with carets and the text to write.
    Full,
    /// One line each: file:line:col: error[rule]: message.
    Short,
    /// One JSON object per line.
    Json,
    /// One SARIF document, for code scanning services.
    Sarif,
    /// Workflow commands that GitHub shows at the lines of a pull request.
    Github,
}

/// Show what a rule finds, why it bites and what to write instead.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The rule's name, as it stands in brackets in a finding. Without it: all rules.
    pub(crate) rule: Option<String>,
    /// Text for people, or the Markdown that it is made of.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

/// How an explanation looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Wrapped at the width of the terminal.
    Text,
    /// As it is written.
    Markdown,
}

/// Run a command beside a throwaway Postgres server.
///
/// The command finds the server's URL in DIGLOT_POSTGRES_URL and in FF_TEST_POSTGRES_URL. The server is
/// stopped and removed when the command ends, however it ends; its exit code is passed on. Which server: the one in the
/// folder that DIGLOT_POSTGRES_BIN names, or the first in PATH and in the usual folders.
#[derive(Debug, Args)]
pub(crate) struct WithPostgres {
    /// Flush every commit to disk, as a server with real data does.
    #[arg(long)]
    pub(crate) durable: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Reads the arguments, in the form of a Cargo plugin (`cargo-diglot diglot check`) or plain, and settles what is
/// coloured from here on.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|word| word == "diglot") {
        arguments.remove(1);
    }
    // Arguments that make no sense are told of in colour, or not, as well.
    color(&arguments).unwrap_or(Color::Auto).write();
    let cli = Cli::try_parse_from(arguments)?;
    cli.color.write();
    Ok(cli.command)
}

/// What the arguments say of colours, as far as they can be told before they are understood.
fn color(arguments: &[OsString]) -> Option<Color> {
    let mut own = arguments.iter().take_while(|word| *word != "--").filter_map(|word| word.to_str());
    let said = own.find_map(|word| word.strip_prefix("--color"))?;
    let said = if said.is_empty() { own.next()? } else { said.strip_prefix('=')? };
    Color::from_str(said, false).ok()
}

impl Color {
    fn write(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The arguments, for scripts that complete them.
pub(crate) fn declared() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_arguments_are_declared_without_contradiction() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_form_of_a_cargo_plugin_and_the_plain_form_mean_the_same() {
        for line in ["cargo-diglot diglot check --root x", "cargo-diglot check --root x"] {
            let Ok(Command::Check(check)) = parse(words(line)) else { panic!("{line}") };
            assert_eq!(check.project.root, Some(PathBuf::from("x")));
        }
    }

    #[test]
    fn what_is_said_of_colours_is_known_before_the_rest_is_understood() {
        for (line, expected) in [
            ("x check --color never --bad", Some(Color::Never)),
            ("x --color=always check", Some(Color::Always)),
            ("x check --color", None),
            ("x check --colored", None),
            ("x with-postgres -- cargo test --color always", None),
        ] {
            assert_eq!(color(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn a_command_keeps_its_own_flags() {
        let Ok(Command::WithPostgres(arguments)) = parse(words("cargo-diglot with-postgres -- cargo test --durable"))
        else {
            panic!("not understood");
        };
        assert!(!arguments.durable);
        assert_eq!(arguments.command, words("cargo test --durable"));
    }
}
