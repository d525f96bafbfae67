//! A caller of the server's HTTP API.

use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use crate::shared::Failure;

/// Where the server is and what it wants to see.
pub(crate) struct Api {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Api {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        Self { http: reqwest::Client::new(), url: url.to_owned(), token: token.to_owned() }
    }

    /// The path and the query, with ids escaped.
    fn place(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Url, Failure> {
        let mut url = Url::parse(&self.url)?;
        url.path_segments_mut().map_err(|()| "the URL has no path")?.push("v1").extend(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    /// Calls, and answers the status and the body.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<(StatusCode, Vec<u8>), Failure> {
        let mut request = self.http.request(method, self.place(path, query)?).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await?;
        Ok((response.status(), response.bytes().await?.to_vec()))
    }

    /// Reads, which must succeed.
    pub(crate) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Value, Failure> {
        expect(StatusCode::OK, path, self.call(Method::GET, path, query, None).await?)
    }

    /// Posts and expects that status.
    pub(crate) async fn post(&self, status: StatusCode, path: &[&str], body: &Value) -> Result<Value, Failure> {
        expect(status, path, self.call(Method::POST, path, &[], Some(body)).await?)
    }

    /// Puts, which must succeed.
    pub(crate) async fn put(&self, path: &[&str], body: &Value) -> Result<Value, Failure> {
        expect(StatusCode::OK, path, self.call(Method::PUT, path, &[], Some(body)).await?)
    }
}

fn expect(status: StatusCode, path: &[&str], answer: (StatusCode, Vec<u8>)) -> Result<Value, Failure> {
    let (answered, body) = answer;
    if answered != status {
        let said = String::from_utf8_lossy(&body);
        return Err(format!("{} answered {answered}, not {status}: {said}", path.join("/")).into());
    }
    Ok(serde_json::from_slice(&body)?)
}
