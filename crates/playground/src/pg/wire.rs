//! Postgres's protocol, as far as texts of several statements need it.

use diglot_tools::prove::{CHECK, Fault, NOT_NULL, REFERENCE, UNIQUE};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Sends a message and gives all that the server answers.
    #[wasm_bindgen(js_name = talkToPostgres)]
    fn talk(message: &[u8]) -> Vec<u8>;
}

/// What a statement gave.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The numbers of the types of its columns.
    pub(super) types: Vec<u32>,
    pub(super) rows: Vec<Vec<Option<String>>>,
    /// How many rows it wrote or gave.
    pub(super) count: u64,
}

/// What the server answered to a text.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// What each of its statements gave, up to the one that is refused.
    pub(super) tables: Vec<Table>,
    pub(super) refusal: Option<Fault>,
}

/// Runs a text of which nobody looks at what it gives.
pub(super) fn run(text: &str) -> Result<(), String> {
    send(text).refusal.map_or(Ok(()), |fault| Err(fault.words))
}

/// Sends a text of any number of statements.
pub(super) fn send(text: &str) -> Reply {
    let length = u32::try_from(text.len() + 5).unwrap_or(u32::MAX);
    let mut message = vec![b'Q'];
    message.extend(length.to_be_bytes());
    message.extend(text.as_bytes());
    message.push(0);
    read(&talk(&message))
}

fn read(mut answer: &[u8]) -> Reply {
    let (mut reply, mut table) = (Reply::default(), Table::default());
    while let Some((kind, body, rest)) = message(answer) {
        answer = rest;
        let mut body = Body(body);
        match kind {
            b'T' => table.types = body.types().unwrap_or_default(),
            b'D' => table.rows.extend(body.row()),
            b'C' => {
                let tag = body.text().unwrap_or_default();
                table.count = tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0);
                reply.tables.push(std::mem::take(&mut table));
            }
            b'E' => reply.refusal = body.fault(),
            _ => {}
        }
    }
    reply
}

/// The first message: its kind, what is in it, and what follows.
fn message(answer: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, rest) = answer.split_first()?;
    let (length, _) = rest.split_first_chunk::<4>()?;
    let (body, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    Some((*kind, body.get(4..)?, rest))
}

/// What is left of a message.
struct Body<'a>(&'a [u8]);

impl Body<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn text(&mut self) -> Option<String> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = String::from_utf8_lossy(&self.0[..end]).into_owned();
        self.0 = &self.0[end + 1..];
        Some(text)
    }

    fn types(&mut self) -> Option<Vec<u32>> {
        let count = u16::from_be_bytes(self.take()?);
        let of_column = |_| {
            self.text()?;
            // Its table and its place there stand before the type; behind it its size, its modifier and its form.
            self.take::<6>()?;
            let number = u32::from_be_bytes(self.take()?);
            self.take::<8>()?;
            Some(number)
        };
        (0..count).map(of_column).collect()
    }

    fn row(&mut self) -> Option<Vec<Option<String>>> {
        let count = u16::from_be_bytes(self.take()?);
        let value = |_| {
            let Ok(length) = usize::try_from(i32::from_be_bytes(self.take()?)) else { return Some(None) };
            let (value, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            Some(Some(String::from_utf8_lossy(value).into_owned()))
        };
        (0..count).map(value).collect()
    }

    fn fault(&mut self) -> Option<Fault> {
        let (mut code, mut words) = (String::new(), String::new());
        while let Some([field @ 1..=u8::MAX]) = self.take() {
            let text = self.text()?;
            match field {
                b'C' => code = text,
                b'M' => words = text,
                _ => {}
            }
        }
        Some(fault(&code, words))
    }
}

/// A refusal as a program sees it.
fn fault(code: &str, words: String) -> Fault {
    let kind = match code {
        "23505" => UNIQUE,
        "23503" => REFERENCE,
        "23502" => NOT_NULL,
        "23514" => CHECK,
        _ => "",
    };
    // A number or a text is too large for its type, where the other engine has a CHECK for that.
    let beside = ["22003", "22001"].contains(&code).then_some(CHECK);
    Fault { kind, words, beside }
}
