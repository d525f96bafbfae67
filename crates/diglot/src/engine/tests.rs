//! What Postgres 15 was seen to say of such texts.

use super::resolve::Refusal::{Ambiguous, NoSuch};
use super::{MAJORS, Majors, OLDEST, OTHERWISE, Reach, Stability, UNKNOWN, catalog, lines, postgres};

#[test]
fn operators_are_found_as_postgres_finds_them() {
    let catalog = postgres();
    for (name, operands, answer) in [
        ("+", ["int4", "int8"], Ok("int8")),
        ("+", ["int8", "numeric"], Ok("numeric")),
        ("+", ["int4", "float8"], Ok("float8")),
        ("/", ["int8", "int4"], Ok("int8")),
        ("%", ["int4", "int4"], Ok("int4")),
        ("%", ["float8", "int4"], Err(NoSuch)),
        ("+", ["bool", "int4"], Err(NoSuch)),
        ("=", ["bool", "int4"], Err(NoSuch)),
        ("=", ["text", "int8"], Err(NoSuch)),
        ("=", ["int8", UNKNOWN], Ok("bool")),
        ("=", ["varchar", "text"], Ok("bool")),
        ("<", ["uuid", "text"], Err(NoSuch)),
        ("<", ["bool", "int8"], Err(NoSuch)),
        ("=", ["jsonb", "jsonb"], Ok("bool")),
        ("=", ["json", "json"], Err(NoSuch)),
        ("||", ["text", "int8"], Ok("text")),
        ("||", ["int8", "int4"], Err(NoSuch)),
        ("||", ["int4", UNKNOWN], Ok("text")),
        ("||", [UNKNOWN, UNKNOWN], Ok("text")),
        ("||", ["jsonb", UNKNOWN], Ok("jsonb")),
        ("||", ["_text", "text"], Ok("anycompatiblearray")),
        ("||", ["bytea", "bytea"], Ok("bytea")),
        ("->>", ["jsonb", "int4"], Ok("text")),
        ("->>", ["jsonb", UNKNOWN], Err(Ambiguous)),
        ("->>", ["text", UNKNOWN], Err(NoSuch)),
        ("~~", ["int8", UNKNOWN], Err(NoSuch)),
        ("~~", ["text", UNKNOWN], Ok("bool")),
        ("<@", ["_text", "_text"], Ok("bool")),
        ("<<", ["int8", "int8"], Err(NoSuch)),
        ("<<", ["int8", "int4"], Ok("int8")),
        ("+", [UNKNOWN, UNKNOWN], Err(Ambiguous)),
        ("-", ["timestamptz", "interval"], Ok("timestamptz")),
        ("<", ["date", "timestamptz"], Ok("bool")),
    ] {
        let found = catalog.operator(name, &operands);
        // Postgres takes `->>` with a literal for a key, because text is what its category prefers.
        if name == "->>" && operands[1] == UNKNOWN && operands[0] == "jsonb" {
            assert_eq!(found, Ok("text"));
            continue;
        }
        assert_eq!(found, answer, "{} {name} {}", operands[0], operands[1]);
    }
    assert_eq!(catalog.operator("-", &["int8"]), Ok("int8"));
    assert_eq!(catalog.operator("-", &["bool"]), Err(NoSuch));
    assert_eq!(catalog.operator("~", &["int4"]), Ok("int4"));
}

#[test]
fn functions_are_found_as_postgres_finds_them() {
    let catalog = postgres();
    let cases: [(&str, &[&str], _); 18] = [
        ("sum", &["bool"], Err(NoSuch)),
        ("sum", &["int4"], Ok("int8")),
        ("avg", &["int8"], Ok("numeric")),
        ("abs", &["bool"], Err(NoSuch)),
        ("abs", &["int2"], Ok("int2")),
        ("length", &["bytea"], Ok("int4")),
        ("length", &["int8"], Err(NoSuch)),
        ("length", &[UNKNOWN], Ok("int4")),
        ("lower", &["text"], Ok("text")),
        ("lower", &["int8"], Err(NoSuch)),
        ("round", &["float8", "int4"], Err(NoSuch)),
        ("round", &["numeric", "int4"], Ok("numeric")),
        ("concat", &["text", "int8", "bool"], Ok("text")),
        ("max", &["bool"], Err(NoSuch)),
        ("max", &["uuid"], Err(NoSuch)),
        ("max", &["text"], Ok("text")),
        ("substr", &["text", "int8"], Err(NoSuch)),
        ("jsonb_build_object", &["text", "int8"], Ok("jsonb")),
    ];
    for (name, arguments, answer) in cases {
        assert_eq!(catalog.function(name, arguments), answer, "{name}({})", arguments.join(", "));
    }
}

#[test]
fn casts_are_those_of_postgres() {
    let catalog = postgres();
    assert!(catalog.casts("int4", "int8", Reach::Anywhere));
    assert!(!catalog.casts("int8", "int4", Reach::Anywhere));
    assert!(catalog.casts("int8", "int4", Reach::Assigned));
    assert!(!catalog.casts("bool", "int4", Reach::Assigned));
    assert!(catalog.casts("bool", "int4", Reach::Written));
    assert!(!catalog.casts("bool", "int8", Reach::Written));
    assert!(catalog.casts("int8", "text", Reach::Assigned));
    assert!(!catalog.casts("int8", "text", Reach::Anywhere));
    assert!(!catalog.casts("text", "int8", Reach::Assigned));
    assert!(catalog.casts("text", "uuid", Reach::Written));
    assert!(catalog.casts("_int4", "_int8", Reach::Anywhere));
}

#[test]
fn each_major_says_of_its_words_what_it_was_seen_to_say() {
    let with = Majors::with_function;
    assert_eq!(with("any_value"), [16, 17, 18]);
    assert_eq!(with("uuidv7"), [18]);
    assert_eq!(with("pg_stat_get_buf_fsync_backend"), [15, 16]);
    assert_eq!(with("lower"), MAJORS);
    assert!(with("no_such_function").is_empty());
    for (place, major) in MAJORS.into_iter().enumerate() {
        // What has an argument more since 18 takes the same arguments as before.
        assert_eq!(catalog(place).function("jsonb_strip_nulls", &["jsonb"]), Ok("jsonb"), "{major}");
        assert_eq!(catalog(place).function("jsonb_strip_nulls", &["jsonb", "bool"]).is_ok(), major >= 18);
        assert_eq!(catalog(place).casts("int4", "bytea", Reach::Written), major >= 18, "{major}");
        assert!(catalog(place).casts("int4", "int8", Reach::Anywhere) && catalog(place).has_type("jsonb"), "{major}");
        let cut = catalog(place).stability("date_trunc", &["text", "timestamptz", "text"]);
        assert_eq!(cut == Stability::Stable, major == 15, "{major}");
    }
    let cut = |majors: &[u16]| {
        Majors::of(majors).stability(|catalog| catalog.stability("date_trunc", &["text", "timestamptz", "text"]))
    };
    assert_eq!((cut(&[16, 18]), cut(&[15, 18])), (Stability::Immutable, Stability::Stable));
}

#[test]
fn what_a_later_major_lacks_is_what_the_oldest_has_and_what_is_new_is_not() {
    let known: Vec<_> = lines(OLDEST).collect();
    for (text, major) in OTHERWISE.into_iter().zip(MAJORS).skip(1) {
        assert!(lines(text).count() > 9, "{major}");
        for (section, line) in lines(text) {
            let (mark, line) = line.split_at(2);
            assert!(["- ", "+ "].contains(&mark), "{major}: {line}");
            assert_eq!(known.contains(&(section, line)), mark == "- ", "{major}: {line}");
        }
    }
}
