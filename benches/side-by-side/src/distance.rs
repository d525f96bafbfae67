//! A server that is farther away than it is: every answer of it comes later by a given time, as over a network. Threads
//! wait here and no timers of the runtime, which are a millisecond apart.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;

/// The most that is passed on at once.
const CHUNK: usize = 64 * 1024;

/// Listens for as long as the process lives and passes everything on to the server. Gives the URL of the place that listens.
pub fn behind(server: &str, delay: Duration) -> Result<String, Box<dyn std::error::Error>> {
    let options: PgConnectOptions = server.parse()?;
    let address = format!("{}:{}", options.get_host(), options.get_port());
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let place = listener.local_addr()?.to_string();
    if !server.contains(&address) {
        return Err(format!("{server}: a server that is asked for by `host:port` can be put at a distance").into());
    }
    let url = server.replacen(&address, &place, 1);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if let Err(error) = connect(client, &address, delay) {
                eprintln!("{address}: {error}");
            }
        }
    });
    Ok(url)
}

fn connect(client: TcpStream, address: &str, delay: Duration) -> io::Result<()> {
    let server = TcpStream::connect(address)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (mut asks, mut asked) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || {
        let _ = io::copy(&mut asks, &mut asked);
        let _ = asked.shutdown(Shutdown::Write);
    });
    let (late, due) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || listen(server, &late, delay));
    thread::spawn(move || answer(client, &due));
    Ok(())
}

/// Notes what the server says with the time at which it is to arrive, until either side ends.
fn listen(mut server: TcpStream, late: &mpsc::Sender<(Instant, Vec<u8>)>, delay: Duration) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(length @ 1..) = server.read(&mut chunk) {
        let said = chunk.get(..length).unwrap_or_default().to_vec();
        if late.send((Instant::now() + delay, said)).is_err() {
            break;
        }
    }
}

fn answer(mut client: TcpStream, due: &mpsc::Receiver<(Instant, Vec<u8>)>) {
    for (moment, said) in due {
        thread::sleep(moment.saturating_duration_since(Instant::now()));
        if client.write_all(&said).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
