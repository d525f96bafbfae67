//! Programs with their transactions, and what is read of them.

use super::transactions;

/// What is read of files, a line for each transaction; what is lost stands below with its file.
fn read(files: &[(&str, &str)]) -> String {
    let called = transactions(files.iter().copied());
    let listed = called.transactions.iter().map(|(name, of)| format!("{name}: {}\n", of.join(" ")));
    let lost = called.lost.iter().map(|lost| {
        let (path, text) = files.iter().find(|(path, _)| *path == lost.path).expect("a file");
        format!("lost in {path}: {}\n", &text[lost.place.clone()])
    });
    listed.chain(lost).collect()
}

#[test]
fn a_transaction_is_followed_through_functions_methods_and_branches() {
    let work = r#"
async fn outer<D: Dialect>(backend: &Backend<D>) {
    transaction!(backend, "work_do", [key], |conn| {
        // conn.not_this(key)
        if *taking == Taking::Seizes && seize::row::<D>(conn, key).await? == Seized::Held {
            return Ok(());
        }
        conn.work_lock(key).await?;
        step::<D>(conn, key).await?;
        Held::of::<D>(conn, key).await?.end::<D>(conn).await
    })
}

async fn step<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<(), Abort> {
    match conn.work_step(&key).await? {
        0 => other::first::<D>(key, conn).await,
        _ => other::second::<D>(conn, key).await,
    }
}

async fn alone<D: Dialect>(backend: &Backend<D>) {
    let params = held::HeldEndParams { key };
    backend.db().unit(params).await?;
    backend.db().unit_telling::<held::HeldReadParams, _, _>(noted(key), |row, wakes| wakes.lease(row.id)).await?;
    backend.db().unit(held::HeldElsewhereParams { key }).await
}
"#;
    let other = r#"
pub(crate) async fn first<D: Dialect>(key: Key, connection: &mut D::Connection) -> Result<(), Abort> {
    connection.other_first(&key).await
}

pub(crate) async fn second<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<(), Abort> {
    conn
        .other_second(&key)
        .await
}

impl Held {
    async fn of<D: Dialect>(conn: &mut D::Connection, key: Key) -> Result<Self, Abort> {
        conn.held_read(&key).await
    }

    async fn end<D: Dialect>(self, conn: &mut D::Connection) -> Result<(), Abort> {
        conn.work_lock(&self.key).await?;
        conn.held_end(&self.key).await
    }
}
"#;
    let seize = "pub async fn row<D>(conn: &mut D::Connection, key: Key) { conn.row_try_lock(&key).await }";
    let read = read(&[("src/work.rs", work), ("src/other.rs", other), ("src/seize.rs", seize)]);
    assert_eq!(
        read,
        "held_end_alone: held_end\n\
         held_read_alone: held_read\n\
         work_do: work_lock work_step other_first other_second held_read held_end\n\
         work_do_if: row_try_lock work_lock work_step other_first other_second held_read held_end\n"
    );
}

#[test]
fn what_begins_a_transaction_in_a_function_gives_it_its_name() {
    let text = r#"
async fn job_end(pool: &Pool, key: &Key) -> Result<(), Error> {
    pool.connection().job_peek(key).await?;
    let mut tx = pool.begin().await?;
    let row = tx.connection().job_lock(key).await?;
    JobWriteParams { id: row.id, at: Some(1) }.run(&mut tx.connection()).await?;
    let params = JobNoteParams { id: row.id };
    if row.is_last {
        params.run(&mut tx).await?;
    }
    tell(&mut tx, row).await?;
    tx.commit().await
}

async fn tell(tx: &mut Transaction<'_, Postgres>, row: Row) -> Result<(), Error> {
    pg_only::job_tell(tx, &[row]).await?;
    audit::note(row, tx).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    async fn it_ends(pool: &Pool) {
        let mut tx = pool.begin().await.unwrap();
        tx.job_break().await
    }
}
"#;
    assert_eq!(
        read(&[("src/job.rs", text)]),
        "job_end: job_lock job_write job_note job_tell commit\nlost in src/job.rs: note\n"
    );
}
