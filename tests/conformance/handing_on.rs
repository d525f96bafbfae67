//! A pooler that hands its one session on after each transaction, as PgBouncer does in its transaction mode: what needs no
//! installed pooler to be tested.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The message by which a client ends a request of several messages, by which it asks with one, and by which it goes.
const SYNC: u8 = b'S';
const QUERY: u8 = b'Q';
const TERMINATE: u8 = b'X';

/// The message that ends an answer, and what it says outside of a transaction.
const READY: u8 = b'Z';
const IDLE: &[u8] = b"I";

/// The message that tells how a client may prove who it is, and what it says when it has.
const AUTHENTICATION: u8 = b'R';
const IS_KNOWN: &[u8] = &[0, 0, 0, 0];

/// What the server said to the first client once it knew it.
type Welcome = Vec<(u8, Vec<u8>)>;

/// The session, and what its server said to whoever opened it; none before somebody has.
type Session = Arc<Mutex<Option<(TcpStream, Welcome)>>>;

/// Stands before a server while the test's process lives; answers the URL by which it is asked.
pub(crate) fn before(url: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its number").port();
    let (head, rest) = url.split_once('@').expect("a URL with a user");
    let (server, path) = rest.split_once('/').expect("a URL with a database");
    let mark = if path.contains('?') { '&' } else { '?' };
    let proxied = format!("{head}@127.0.0.1:{port}/{path}{mark}sslmode=disable");
    let server = server.to_owned();
    thread::spawn(move || {
        let session = Session::default();
        for client in listener.incoming().map_while(Result::ok) {
            let (server, session) = (server.clone(), Arc::clone(&session));
            // Who goes in the middle of a message has gone.
            thread::spawn(move || serve(client, &server, &session));
        }
    });
    proxied
}

/// Serves one client: as soon as it is known, each of its transactions goes to the one session.
fn serve(mut client: TcpStream, server: &str, session: &Session) -> Option<()> {
    let startup = untagged(&mut client)?;
    {
        let mut held = session.lock().unwrap_or_else(PoisonError::into_inner);
        match &*held {
            Some((_, welcome)) => welcome.iter().try_for_each(|(kind, body)| put(&mut client, *kind, body))?,
            None => *held = Some(opened(&mut client, server, &startup)?),
        }
    }
    loop {
        let mut asked = request(&mut client)?;
        let mut held = session.lock().unwrap_or_else(PoisonError::into_inner);
        let (session, _) = held.as_mut()?;
        loop {
            session.write_all(&asked).ok()?;
            if answered(session, &mut client)? {
                break;
            }
            asked = request(&mut client)?;
        }
    }
}

/// Opens the session as its first client, and tells that client everything.
fn opened(client: &mut TcpStream, server: &str, startup: &[u8]) -> Option<(TcpStream, Welcome)> {
    let mut session = TcpStream::connect(server).ok()?;
    session.write_all(startup).ok()?;
    let mut welcome = Welcome::new();
    let mut is_known = false;
    loop {
        let (kind, body) = message(&mut session)?;
        put(client, kind, &body)?;
        is_known |= kind == AUTHENTICATION && body == IS_KNOWN;
        if kind == AUTHENTICATION && !is_known {
            // The last message of a proof is answered without another one from the client.
            if !body.starts_with(&[0, 0, 0, 12]) {
                let (kind, proof) = message(client)?;
                put(&mut session, kind, &proof)?;
            }
            continue;
        }
        let is_ready = kind == READY;
        welcome.push((kind, body));
        if is_ready {
            return Some((session, welcome));
        }
    }
}

/// What a client asks at once.
fn request(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut asked = Vec::new();
    loop {
        let (kind, body) = message(client)?;
        if kind == TERMINATE {
            return None;
        }
        write(&mut asked, kind, &body);
        if matches!(kind, SYNC | QUERY) {
            return Some(asked);
        }
    }
}

/// Carries the answer to a request, and says whether the transaction is over.
fn answered(session: &mut TcpStream, client: &mut TcpStream) -> Option<bool> {
    loop {
        let (kind, body) = message(session)?;
        put(client, kind, &body)?;
        if kind == READY {
            return Some(body == IDLE);
        }
    }
}

/// The message that opens a connection, which has no letter.
fn untagged(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length).ok()?;
    let mut whole = length.to_vec();
    whole.resize(usize::try_from(u32::from_be_bytes(length)).ok()?, 0);
    from.read_exact(whole.get_mut(4..)?).ok()?;
    Some(whole)
}

fn message(from: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let (mut kind, mut length) = ([0], [0; 4]);
    from.read_exact(&mut kind).ok()?;
    from.read_exact(&mut length).ok()?;
    let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?.checked_sub(4)?];
    from.read_exact(&mut body).ok()?;
    Some((kind[0], body))
}

fn put(to: &mut TcpStream, kind: u8, body: &[u8]) -> Option<()> {
    let mut message = Vec::new();
    write(&mut message, kind, body);
    to.write_all(&message).ok()
}

fn write(to: &mut Vec<u8>, kind: u8, body: &[u8]) {
    to.push(kind);
    to.extend(u32::try_from(body.len() + 4).expect("a short message").to_be_bytes());
    to.extend(body);
}
