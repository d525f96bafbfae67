//! The arguments of every subcommand.

mod begin;
mod releases;
mod server;

use std::ffi::OsString;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use begin::{Init, Try};
pub(crate) use releases::{Migrate, MigrateAction, Verify};
pub(crate) use server::{Bring, Postgres};

/// Checks that the SQLite and the Postgres version of your SQL mean the same.
#[derive(Debug, Parser)]
#[command(name = "cargo diglot", bin_name = "cargo diglot", version, arg_required_else_help = true)]
struct Cli {
    /// Whether to print in colours.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

/// When to colour what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Also into files and pipes, whatever NO_COLOR says.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Try(Try),
    Init(Init),
    New(New),
    Translate(Translate),
    Check(Check),
    Extract(Extract),
    Baseline(Baseline),
    Prepare(Prepare),
    Review(Review),
    Prove(Prove),
    Verify(Verify),
    Migrate(Migrate),
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
    /// Editors start it themselves; docs/editors.md says what to write in their settings.
    Lsp,
    Mcp(Mcp),
    /// Print the JSON schema of diglot.toml, by which editors complete and check that file.
    ///
    /// `init` writes it beside diglot.toml. After an update: cargo diglot schema >diglot.schema.json
    Schema,
    Completions(Completions),
}

/// Serve a coding agent: tools that check a project, explain a rule, and run a pair, by the Model Context Protocol.
///
/// Agents start it themselves, on standard input and output; docs/editors.md says what to write in their settings.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
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

/// Add a pair of statements about a table, as a draft that compiles.
///
/// The verb says what it does: add, get, list, count, update or delete. Any other verb drafts a statement that reads a row
/// by its key.
///
/// `new migration` drafts a step of the migrations instead.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct New {
    #[command(subcommand)]
    pub(crate) what: Option<NewWhat>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// The name of the files, without `.sql`; also the table, unless --table names it.
    #[arg(required = true)]
    pub(crate) noun: Option<String>,
    /// What the statement does.
    #[arg(required = true)]
    pub(crate) verb: Option<String>,
    /// The table, where it is not the noun.
    #[arg(long)]
    pub(crate) table: Option<String>,
}

/// What `new` drafts beside statements.
#[derive(Debug, Subcommand)]
pub(crate) enum NewWhat {
    Migration(NewMigration),
}

/// Draft the next step of both databases' migrations.
///
/// On Postgres it keeps nobody away for long; on SQLite a table that has to be built anew keeps all that stands on it.
#[derive(Debug, Args)]
pub(crate) struct NewMigration {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(subcommand)]
    pub(crate) change: Change,
}

/// A change of both schemas.
#[derive(Debug, Subcommand)]
pub(crate) enum Change {
    /// Make a table with an id and a name.
    CreateTable {
        /// The table.
        table: String,
    },
    /// Add a column.
    AddColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Its type on Postgres; SQLite gets the one that faces it.
        #[arg(value_name = "TYPE")]
        ty: String,
        /// NOT NULL; a table with rows needs a default then.
        #[arg(long)]
        not_null: bool,
        /// What rows hold that are there, and those that leave the column out: SQL that both databases read.
        #[arg(long, value_name = "SQL")]
        default: Option<String>,
    },
    /// Add an index.
    AddIndex {
        /// The table.
        table: String,
        /// The columns in order.
        #[arg(required = true)]
        columns: Vec<String>,
        /// UNIQUE.
        #[arg(long)]
        unique: bool,
    },
    /// Rename a column.
    RenameColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Its new name.
        to: String,
    },
    /// Rename a table.
    RenameTable {
        /// The table.
        table: String,
        /// Its new name.
        to: String,
    },
    /// Give a column a wider type.
    Widen {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// Its new type on Postgres; SQLite gets the one that faces it.
        #[arg(value_name = "TYPE")]
        ty: String,
    },
    /// Drop a column, with the indexes that name it.
    DropColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
}

/// Draft the page that a statement lacks from the page that it has.
///
/// Comments and layout are kept. Where somebody has to decide, the draft has a line `-- decide:`.
#[derive(Debug, Args)]
pub(crate) struct Translate {
    #[command(flatten)]
    pub(crate) project: Project,
    /// The name of the statement, with or without that of its file: `note_due` or `note.note_due`.
    #[arg(value_name = "NOUN.STATEMENT")]
    pub(crate) statement: String,
    /// Write the draft into the other file, at the same place. Without it the draft is printed.
    #[arg(long)]
    pub(crate) write: bool,
}

/// Compare all pages and print the findings.
///
/// Needs no database. Exits with 0 when there is no finding, with 2 when there are findings, and with 1 when the command
/// itself failed.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) project: Project,
    /// How findings look.
    #[arg(long, value_enum, default_value_t = Format::Full)]
    pub(crate) format: Format,
    /// With `--format github`: show a finding about both pages on the one that changed since this git revision. Without it:
    /// since the branch in GITHUB_BASE_REF.
    #[arg(long, value_name = "REV")]
    pub(crate) base: Option<String>,
    /// Also print how much was compared, how much of it is declared to differ, and on how many databases pairs were tried.
    #[arg(long)]
    pub(crate) stats: bool,
    /// Show every finding in every place, all rows and columns of the databases on which pages differ, and for every other
    /// pair what was tried.
    #[arg(long)]
    pub(crate) full: bool,
    /// Show at most N findings.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Check every package of the Cargo workspace that has a diglot.toml.
    #[arg(long, conflicts_with_all = ["root", "package", "watch"])]
    pub(crate) workspace: bool,
    /// Exit with 0 when there is no pair at all. Without it that is an error, since nothing was compared.
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// Make the changes that need no decision: delete annotations that are not needed, write the seals that are missing. The
    /// SQL itself is not changed.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Do not end, and check again whenever a file changes; after each check a line {"checked":…} is printed.
    #[arg(long, conflicts_with = "fix")]
    pub(crate) watch: bool,
}

/// Show the statements that are read out of Go and Rust, with the line of each.
///
/// `[sql]` in diglot.toml names such files: `sqlite = "storage/sqlite/*.go"`. Statements that the program puts together at
/// run time are listed too; they are not compared.
#[derive(Debug, Args)]
pub(crate) struct Extract {
    #[command(flatten)]
    pub(crate) project: Project,
}

/// Keep today's findings in diglot.baseline, so that only new ones fail.
///
/// A line of the file has the rule, the statement, and a seal: six letters computed from what both pages say. Another
/// difference in the same place has another seal, so it is new and fails. A line whose finding no longer occurs is an
/// error; running this command again removes it. Exits with 2 when there are findings that cannot be kept.
#[derive(Debug, Args)]
pub(crate) struct Baseline {
    #[command(flatten)]
    pub(crate) project: Project,
}

/// Change one page of every pair, one place at a time, and list the changes that `check` does not notice.
///
/// A change that is not noticed means the same, or is declared to differ, or is a gap of diglot's. Needs no database.
#[derive(Debug, Args)]
pub(crate) struct Mutate {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Try at most N changes of each page of a statement, evenly spread. Without it all are tried.
    #[arg(long, value_name = "N")]
    pub(crate) most: Option<usize>,
    /// Count a change as noticed only if it brings a finding that a baseline of today would not have. Without it every
    /// change of a pair that has findings counts as noticed.
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
    #[command(flatten)]
    pub(crate) postgres: Postgres,
}

/// Ask SQLite and Postgres about every statement and record their answers in .sqlx.
///
/// Also runs both pages of every pair on small databases and records whether the answers agree. SQLite is compiled in.
/// Postgres is asked in a scratch database on the server that --postgres or DIGLOT_POSTGRES_URL names, or on a throwaway
/// server; DATABASE_URL is not read. Nothing is written while there is a finding.
#[derive(Debug, Args)]
pub(crate) struct Prepare {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Write nothing; exit with 2 when something would change.
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
}

/// Show every pair side by side, as one HTML file or as Markdown for a pull request.
///
/// Needs no database, and the page needs no network. The exit code is 0 whether there are findings or not.
#[derive(Debug, Args)]
pub(crate) struct Review {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show what changed since this revision of the git repository, with before and after.
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// An HTML page, or Markdown for a comment on a pull request.
    #[arg(long, value_enum, default_value_t = ReviewFormat::Html)]
    pub(crate) format: ReviewFormat,
    /// The file to write. Without it: target/diglot/review.html for a page; Markdown is printed.
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

/// Run both pages of every pair on the same data and compare the answers.
///
/// The data is made from the schema. Keys and references hold in it; the values are those that the statements ask for, the
/// smallest and largest of each type, text that sorts and matches in different ways, and NULL. Pairs with findings are run
/// as well, as far as the databases take them. Exits with 2 when `check` has findings, and when a pair gives different
/// answers and does not declare it.
#[derive(Debug, Args)]
pub(crate) struct Prove {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Try only this statement.
    #[arg(long, value_name = "NAME")]
    pub(crate) statement: Option<String>,
    /// How many rows a table has at most.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) rows: usize,
    /// How many databases each pair is tried on.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) cases: u64,
    /// The number from which the data is made; another one gives other data.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
}

/// Show how each database would run every statement, and which tables it reads without an index.
///
/// Such a line begins with an exclamation mark. The tables are empty, so statistics of your data have no influence; Postgres
/// uses an index wherever there is one that fits.
#[derive(Debug, Args)]
pub(crate) struct Plans {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Show only this statement.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "save"])]
    pub(crate) statement: Option<String>,
    /// Compare with plans.txt and print what changed; exit with 2 when something did.
    #[arg(long, conflicts_with = "save")]
    pub(crate) check: bool,
    /// Keep the plans in plans.txt.
    #[arg(long)]
    pub(crate) save: bool,
    #[command(flatten)]
    pub(crate) postgres: Postgres,
    /// Instead of Postgres ask this coordinator of Citus, and show of each statement whether it becomes one task on one
    /// shard, several, or is refused. The tables are made in a schema of their own, spread as `diglot.toml` says, and
    /// dropped at the end.
    #[arg(long, value_name = "URL", conflicts_with_all = ["check", "save", "url"])]
    pub(crate) citus: Option<String>,
}

/// Show which rows statements and transactions wait for on Postgres while they hold others.
///
/// First come circles, in which transactions can wait for each other until Postgres ends one. Triggers, functions and
/// foreign keys of the schema count. Rows that SKIP LOCKED passes over are not waited for. Needs no database.
#[derive(Debug, Args)]
pub(crate) struct Locks {
    #[command(flatten)]
    pub(crate) project: Project,
}

/// The project.
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
    /// The places on both pages, and the text to write.
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

/// Show what a rule finds, why that is a problem, and what to write instead.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The rule's name, in brackets in a finding. Without it all rules are shown.
    pub(crate) rule: Option<String>,
    /// How the explanation is printed.
    #[arg(long, value_enum, default_value_t = ExplainFormat::Text)]
    pub(crate) format: ExplainFormat,
}

/// How an explanation looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// Wrapped at the width of the terminal.
    Text,
    /// As Markdown.
    Markdown,
}

/// Run a command beside a throwaway Postgres server.
///
/// The server's URL is in the variables DIGLOT_POSTGRES_URL and FF_TEST_POSTGRES_URL. When the command ends, however it
/// ends, the server is stopped and removed, and the command's exit code is passed on. The server's programs are those in
/// the folder that DIGLOT_POSTGRES_BIN names, or the first in PATH and in the usual folders.
#[derive(Debug, Args)]
pub(crate) struct WithPostgres {
    /// Write every commit to disk before it counts, as a server with real data does. Slower.
    #[arg(long)]
    pub(crate) durable: bool,
    #[command(flatten)]
    pub(crate) bring: Bring,
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
