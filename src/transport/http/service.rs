//! A connection as a function from request to response, for the fuzz target `guard`. It makes the same checks as
//! [`serve`](super::serve), without a socket and without hyper's parser.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::body::{Body, Bytes};
use hyper::{Request, Response};

use super::access::Access;
use super::connections::{Connections, Entry};
use super::endpoint::{Connection, Endpoint};
use crate::server::Server;

/// One connection to its own endpoint.
#[derive(Debug)]
pub struct Service {
    entry: Entry,
}

impl Service {
    /// `None` if there is no room for the connection.
    pub fn new(server: Arc<Server>, access: Access) -> Option<Self> {
        let connection = Connection::new(Arc::new(Endpoint::new(server, access)));
        Some(Self { entry: Connections::new(1).add(connection)? })
    }

    /// Answers one request. Must be called within a tokio runtime with time enabled.
    pub async fn call<B>(&self, request: Request<B>) -> Response<impl Body<Data = Bytes, Error = Infallible> + use<B>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let open = &self.entry.open;
        let in_progress = open.begin();
        open.connection.respond(request).await.map(|body| body.until_written(in_progress))
    }
}
