//! Health probes: `/healthz` tells whether the process runs, `/readyz` whether DIR responds. They need neither the
//! token nor a `Host`, and reveal nothing else.

use std::sync::Arc;
use std::time::Duration;

use hyper::{Method, Response, StatusCode};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::response::{self, Refusal, ResponseBody};
use crate::server::Server;

/// How long DIR may take to respond.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Probes {
    server: Arc<Server>,
    /// Held while DIR is checked, so that at most one thread can get stuck in that.
    asking: Arc<Semaphore>,
}

impl Probes {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self { server, asking: Arc::new(Semaphore::new(1)) }
    }

    /// Answers a probe; `None` for any other path.
    pub(super) async fn answer(&self, method: &Method, path: &str) -> Option<Response<ResponseBody>> {
        if !matches!(path, "/healthz" | "/readyz") {
            return None;
        }
        if *method != Method::GET {
            let mut response = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "Probes take GET.").into_response();
            response::set(&mut response, hyper::header::ALLOW, "GET");
            return Some(response);
        }
        let is_well = path == "/healthz" || timeout(PATIENCE, self.is_ready()).await == Ok(true);
        let (status, word) =
            if is_well { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "unavailable") };
        Some(response::json(status, &json!({ "status": word })))
    }

    async fn is_ready(&self) -> bool {
        let Ok(asking) = Arc::clone(&self.asking).acquire_owned().await else { return false };
        let server = Arc::clone(&self.server);
        let asked = spawn_blocking(move || {
            let _asking = asking;
            server.is_ready()
        });
        asked.await.unwrap_or(false)
    }
}
