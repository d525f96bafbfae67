//! What stands between a program and its server, as a pooler does, and loses the answer to a statement that was carried
//! out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_backend_sql::PgPool;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The message that ends an answer, and what it says outside of a transaction.
const READY: u8 = b'Z';
const IDLE: u8 = b'I';

/// What a program hears in the place of a lost answer. Its connection ends in any case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instead {
    /// Nothing.
    Cut,
    /// An error of that severity and with that SQLSTATE, in the words of whoever stands between.
    Error(&'static str, &'static str),
}

/// Has the server say of each statement that it writes to a table, whether or not it changes a row.
const TELLING: &str = "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE NOTICE ''it writes''; RETURN NULL; END';
    DO 'DECLARE kept text; BEGIN
        FOR kept IN SELECT oid::regclass FROM pg_class WHERE relkind IN (''r'', ''p'') AND NOT relispartition
                    AND relnamespace = ''public''::regnamespace AND relname LIKE ''ff%'' LOOP
            EXECUTE format(''CREATE TRIGGER tell BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT
                             EXECUTE FUNCTION public.tell()'', kept);
        END LOOP; END'";

/// What the server says, as it stands in its message.
const IT_WRITES: &[u8] = b"Mit writes\0";

/// Stands before a server while it lives.
pub(crate) struct Proxy {
    pub(crate) url: String,
    inner: Arc<Inner>,
    _tasks: JoinSet<()>,
}

struct Inner {
    server: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What to say in the place of the next answer to what was written and committed.
    loses: Option<Instead>,
    /// How many statements have written since an answer was lost.
    written_since: Option<u32>,
}

impl Proxy {
    /// Stands before the server at that URL, whose tables get triggers.
    pub(crate) async fn before(url: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let (head, rest) = url.split_once('@').expect("a URL with a user");
        let (server, path) = rest.split_once('/').expect("a URL with a database");
        let mark = if path.contains('?') { '&' } else { '?' };
        let proxied = format!("{head}@127.0.0.1:{port}/{path}{mark}sslmode=disable");
        let direct = PgPool::connect(url).await.expect("the server answers");
        sqlx::raw_sql(TELLING).execute(&direct).await.expect("the tables take triggers");
        direct.close().await;
        let inner = Arc::new(Inner { server: server.to_owned(), state: Mutex::default() });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&inner)));
        Self { url: proxied, inner, _tasks: tasks }
    }

    /// Loses the next answer that follows the commit of what was written.
    pub(crate) fn lose_next(&self, instead: Instead) {
        *self.inner.state() = State { loses: Some(instead), written_since: None };
    }

    /// Loses nothing any more. Answers how many statements have written since an answer was lost; none where none was.
    pub(crate) fn written_since_lost(&self) -> Option<u32> {
        std::mem::take(&mut *self.inner.state()).written_since
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_write(&self) {
        if let Some(written) = &mut self.state().written_since {
            *written += 1;
        }
    }

    /// What to say in the place of an answer, if one is to be lost.
    fn lose(&self) -> Option<Instead> {
        let mut state = self.state();
        let instead = state.loses.take()?;
        state.written_since = Some(0);
        Some(instead)
    }
}

async fn accept(listener: TcpListener, inner: Arc<Inner>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(carry(client, Arc::clone(&inner)));
    }
}

/// Carries one connection until either side ends it or an answer is lost.
async fn carry(client: TcpStream, inner: Arc<Inner>) {
    let Ok(server) = TcpStream::connect(&inner.server).await else { return };
    let (mut asked, answers) = client.into_split();
    let (answered, mut asks) = server.into_split();
    tokio::select! {
        _ = copy(&mut asked, &mut asks) => {}
        () = answer(answered, answers, &inner) => {}
    }
}

/// Carries what the server says, an answer at a time.
async fn answer(mut server: OwnedReadHalf, mut client: OwnedWriteHalf, inner: &Inner) {
    let (mut held, mut has_written) = (Vec::new(), false);
    while let Some((kind, body)) = message(&mut server).await {
        if kind == b'N' && body.windows(IT_WRITES.len()).any(|part| part == IT_WRITES) {
            has_written = true;
            inner.note_write();
            continue;
        }
        // What was refused or rolled back is not committed.
        has_written &= kind != b'E' && !(kind == b'C' && body == b"ROLLBACK\0");
        put(&mut held, kind, &body);
        if kind == READY && body == [IDLE] && std::mem::take(&mut has_written) {
            match inner.lose() {
                Some(Instead::Error(severity, code)) => {
                    let _ = client.write_all(&refusal(severity, code)).await;
                    return;
                }
                Some(Instead::Cut) => return,
                None => {}
            }
        }
        // Outside of an answer, as while a connection opens, each message goes at once.
        let is_answer = matches!(kind, b'1' | b'2' | b'3' | b't' | b'T' | b'n' | b'D' | b'C' | b's' | b'I');
        if !is_answer && client.write_all(&std::mem::take(&mut held)).await.is_err() {
            return;
        }
    }
}

/// The next message of a server.
async fn message(server: &mut (impl AsyncRead + Unpin)) -> Option<(u8, Vec<u8>)> {
    let kind = server.read_u8().await.ok()?;
    let length = server.read_u32().await.ok()?;
    let mut body = vec![0; usize::try_from(length).ok()?.checked_sub(4)?];
    server.read_exact(&mut body).await.ok()?;
    Some((kind, body))
}

fn put(to: &mut Vec<u8>, kind: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + 4).expect("a short message");
    to.push(kind);
    to.extend(length.to_be_bytes());
    to.extend(body);
}

/// An error as a server sends it.
fn refusal(severity: &str, code: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, text) in [(b'S', severity), (b'V', severity), (b'C', code), (b'M', "server conn crashed?")] {
        body.push(field);
        body.extend(text.as_bytes());
        body.push(0);
    }
    body.push(0);
    let mut message = Vec::new();
    put(&mut message, b'E', &body);
    message
}
