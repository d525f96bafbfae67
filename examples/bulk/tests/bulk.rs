//! Lists of rows on both databases: what arrives, which answer belongs to which row, and that a key is there once.
//!
//! Postgres is the server that `FF_TEST_POSTGRES_URL` names (a superuser's URL).

use bulk::HoldKey;
use bulk::statements::{StatementError, Statements, job};
use sqlx::{Connection, PgConnection, SqliteConnection};
use uuid::Uuid;

fn given(id: u128) -> job::JobAddAllGiven {
    job::JobAddAllGiven {
        id: Uuid::from_u128(id),
        part: 7,
        active: id.is_multiple_of(2),
        doc: serde_json::json!({"n": id as u64, "text": "a \"quoted\" \\ line\n\u{1}ä"}),
        note: id.is_multiple_of(3).then(|| format!("note {id} \"'\\ \t ä 😀")),
        score: Some(1.0 / (id as f64 + 3.0)),
        payload: (id % 2 == 1).then(|| vec![0, 255, id as u8]),
        size: None,
    }
}

async fn add(db: &mut impl Statements, rows: &[job::JobAddAllGiven]) {
    db.job_add_all(&job::JobAddAllParams { lane: "mail".into() }, rows).await.unwrap();
}

async fn read(db: &mut impl Statements, ids: &[u128]) -> Vec<Vec<job::JobReadAllRow>> {
    let list: Vec<_> = ids.iter().map(|id| job::JobReadAllGiven { id: Uuid::from_u128(*id) }).collect();
    db.job_read_all(&job::JobReadAllParams { from: 0 }, &list).await.unwrap()
}

/// Everything that a database is asked; `db` is empty.
async fn story(db: &mut impl Statements) {
    let rows: Vec<_> = (0..2_000).map(given).collect();
    add(db, &rows).await;
    add(db, &[]).await;

    // Answers come in the order of the list, twice for what is asked twice, and none for what is not there.
    let answers = read(db, &[5, 9_999, 4, 5]).await;
    assert_eq!(answers.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0, 1, 1]);
    for (at, id) in [(0, 5), (2, 4), (3, 5)] {
        let (got, sent) = (&answers[at][0], given(id));
        assert_eq!((got.part, got.active, got.lane.as_str()), (7, sent.active, "mail"));
        assert_eq!((&got.doc, &got.payload), (&sent.doc, &sent.payload));
        assert_eq!(got.score.map(f64::to_bits), sent.score.map(f64::to_bits));
    }

    // A write answers those rows that it found as they were expected.
    let note = |id, epoch| job::JobNoteAllGiven { id: Uuid::from_u128(id), epoch, note: Some(format!("new {id}")) };
    let noted = db.job_note_all(&[note(3, 0), note(2, 1), note(9_999, 0), note(1, 0)]).await.unwrap();
    let epochs: Vec<Option<i64>> = noted.iter().map(|row| row.as_ref().map(|row| row.epoch)).collect();
    assert_eq!(epochs, [Some(1), None, None, Some(1)]);
    assert_eq!(noted[3].as_ref().and_then(|row| row.note.clone()), Some("new 1".to_owned()));

    // The same key twice is an error, and nothing happened.
    let twice = db.job_note_all(&[note(7, 0), note(8, 0), note(7, 0)]).await.unwrap_err();
    assert!(twice.to_string().contains("job.job_note_all was given rows 1 and 3 with the same key"), "{twice}");
    let same_key = StatementError::SameKey { statement: "job.job_note_all", rows: [1, 3] };
    assert_eq!(StatementError::of(&twice), Some(&same_key));
    assert_eq!(db.job_note_all(&[note(7, 0)]).await.unwrap().iter().flatten().count(), 1);

    let key = |word: &str| HoldKey { part: 1, word: word.into() };
    let hold = |word: &str, n| job::HoldAddAllGiven { hold: key(word), n };
    let added = db.hold_add_all(&[hold("b", i64::MAX - 1), hold("a", 2)]).await.unwrap();
    assert_eq!(added.iter().map(|row| row.n).collect::<Vec<_>>(), [i64::MAX - 1, 2]);
    let added = db.hold_add_all(&[hold("a", 3), hold("c", i64::MIN)]).await.unwrap();
    assert_eq!(added.iter().map(|row| row.n).collect::<Vec<_>>(), [5, i64::MIN]);
    assert_eq!(added.into_iter().map(|row| row.hold).collect::<Vec<_>>(), [key("a"), key("c")]);
    let take = |word: &str, n| job::HoldTakeAllGiven { hold: key(word), n };
    let taken = db.hold_take_all(&[take("x", 1), take("a", 4), take("b", i64::MAX)]).await.unwrap();
    assert_eq!(taken.iter().map(|row| row.as_ref().map(|row| row.n)).collect::<Vec<_>>(), [None, Some(1), None]);

    let all: Vec<_> = (0..3_000).map(|id| job::JobDeleteAllGiven { id: Uuid::from_u128(id) }).collect();
    assert_eq!(db.job_delete_all(&all).await.unwrap(), 2_000);
}

/// A text with a NUL character comes back whole or not at all.
async fn nul(db: &mut impl Statements) {
    let mut row = given(1_000_000);
    row.note = Some("a\0b".into());
    assert!(db.job_add_all(&job::JobAddAllParams { lane: "mail".into() }, &[row]).await.is_err());
    // A backslash and digits are no such character.
    let mut row = given(1_000_001);
    row.note = Some("\\u0000".into());
    row.doc = serde_json::json!({"text": "\\u0000"});
    add(db, &[row.clone()]).await;
    let noted =
        db.job_note_all(&[job::JobNoteAllGiven { id: row.id, note: row.note.clone(), epoch: 0 }]).await.unwrap();
    assert_eq!(noted[0].as_ref().and_then(|row| row.note.clone()), row.note);
}

/// Numbers whose shortest digits a reader could round to a neighbour.
async fn numbers(db: &mut impl Statements) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let edges = [f64::MIN_POSITIVE, f64::MAX, f64::MIN, f64::EPSILON, 5e-324, 0.1, 1e23, 9_007_199_254_740_993.0];
    let infinite = [f64::INFINITY, f64::NEG_INFINITY];
    let powers = (1..2047_u64).map(|exponent| f64::from_bits(exponent << 52));
    let drawn = std::iter::repeat_with(|| f64::from_bits(next())).filter(|n| n.is_finite()).take(20_000);
    let small = (1..2_000).map(|n| f64::from(n) / 7.0);
    let all: Vec<f64> = edges.into_iter().chain(infinite).chain(powers).chain(small).chain(drawn).collect();
    let row = |(id, score): (u128, &f64)| job::JobAddAllGiven { score: Some(*score), ..given(id) };
    add(db, &(0..).zip(&all).map(row).collect::<Vec<_>>()).await;
    let ids: Vec<u128> = (0..all.len() as u128).collect();
    let back: Vec<f64> = read(db, &ids).await.into_iter().map(|rows| rows[0].score.unwrap()).collect();
    let lost: Vec<_> = all.iter().zip(&back).filter(|(sent, got)| sent.to_bits() != got.to_bits()).collect();
    assert!(lost.is_empty(), "{} of {}: {:?}", lost.len(), all.len(), lost.first());
}

#[tokio::test]
async fn lists_on_sqlite() {
    let mut connection = SqliteConnection::connect(":memory:").await.unwrap();
    bulk::prepare_sqlite(&mut connection).await.unwrap();
    story(&mut connection).await;
    numbers(&mut connection).await;
    nul(&mut connection).await;
}

#[tokio::test]
async fn lists_on_postgres() {
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        return eprintln!("SKIPPED: FF_TEST_POSTGRES_URL is not set");
    };
    let mut connection = PgConnection::connect(&url).await.unwrap();
    bulk::prepare_pg(&mut connection).await.unwrap();
    story(&mut connection).await;
    numbers(&mut connection).await;
    nul(&mut connection).await;
}
