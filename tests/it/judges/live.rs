//! The official SDK's client is notified of changes: through its handler in the legacy era, on streams in the modern
//! one.

use std::fs;
use std::future::Future;

use rmcp::model::{
    ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Subscription, SubscriptionEnd};
use rmcp::{ClientHandler, ClientLifecycleMode, RoleClient};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::{modes, protocol_error, runtime, start, tree};
use crate::support::{TIMEOUT, Tree};

const LIST_CHANGED: &str = "list_changed";

/// Receives notifications that belong to no stream.
struct Ears(UnboundedSender<String>);

impl ClientHandler for Ears {
    fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.0.send(params.uri).expect("the test listens");
        std::future::ready(())
    }

    fn on_resource_list_changed(
        &self,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.0.send(LIST_CHANGED.to_owned()).expect("the test listens");
        std::future::ready(())
    }
}

async fn hear(heard: &mut UnboundedReceiver<String>) -> String {
    timeout(TIMEOUT, heard.recv()).await.expect("news in time").expect("the client lives")
}

async fn next(stream: &mut Subscription) -> String {
    match timeout(TIMEOUT, stream.next()).await.expect("news in time").expect("no error") {
        Some(ServerNotification::ResourceUpdatedNotification(updated)) => updated.params.uri,
        Some(ServerNotification::ResourceListChangedNotification(_)) => LIST_CHANGED.to_owned(),
        other => panic!("news were expected: {other:?}"),
    }
}

/// Writes a file in one step: two steps could count as two changes.
fn write(tree: &Tree, path: &str) {
    let new = tree.outside().join("new");
    fs::write(&new, "changed\n").expect("it is written");
    fs::rename(new, tree.join(path)).expect("it takes its place");
}

#[test]
#[expect(deprecated, reason = "it is the legacy era's way")]
fn rmcp_subscribes_and_is_notified() {
    runtime().block_on(async {
        let tree = tree();
        let (ears, mut heard) = unbounded_channel();
        let (client, _stderr) = start(&tree, ClientLifecycleMode::Initialize, Ears(ears)).await;
        client.list_all_resources().await.expect("resources");
        let uri = tree.uri("haiku.txt");
        client.subscribe(SubscribeRequestParams::new(&uri)).await.expect("a subscription");
        write(&tree, "haiku.txt");
        assert_eq!(hear(&mut heard).await, uri);
        write(&tree, "new.txt");
        assert_eq!(hear(&mut heard).await, LIST_CHANGED);
        client.unsubscribe(UnsubscribeRequestParams::new(&uri)).await.expect("its end");
        // The next notification is about the other file.
        let other = tree.uri("new.txt");
        client.subscribe(SubscribeRequestParams::new(&other)).await.expect("a subscription");
        write(&tree, "haiku.txt");
        write(&tree, "new.txt");
        assert_eq!(hear(&mut heard).await, other);
        let refused = protocol_error(client.subscribe(SubscribeRequestParams::new(tree.uri("../secret"))).await);
        assert_eq!(refused.code, rmcp::model::ErrorCode::INVALID_PARAMS, "{refused:?}");
    });
}

#[test]
fn rmcp_listens_and_is_notified_on_each_stream() {
    runtime().block_on(async {
        for (mode, _) in modes().into_iter().skip(1) {
            let tree = tree();
            let (ears, mut heard) = unbounded_channel();
            let (client, _stderr) = start(&tree, mode, Ears(ears)).await;
            let uri = tree.uri("haiku.txt");
            let wanted = SubscriptionFilter::builder().tools_list_changed().resources_list_changed();
            let wanted = wanted.resource_subscriptions([&uri, &tree.uri("../secret")]).build();
            let mut both = client.listen(wanted).await.expect("a stream");
            let honoured = SubscriptionFilter::builder().resources_list_changed().resource_subscription(&uri).build();
            assert_eq!(*both.acknowledged(), honoured);
            let file = SubscriptionFilter::builder().resource_subscription(&uri).build();
            let mut file = client.listen(file).await.expect("a stream");
            client.list_all_resources().await.expect("resources");
            write(&tree, "haiku.txt");
            assert_eq!([next(&mut both).await, next(&mut file).await], [uri.clone(), uri.clone()]);
            write(&tree, "new.txt");
            assert_eq!(next(&mut both).await, LIST_CHANGED);
            both.cancel().await.expect("it is cancelled");
            fs::remove_file(tree.join("haiku.txt")).expect("it is removed");
            assert_eq!(next(&mut file).await, uri);
            assert!(matches!(both.end(), Some(SubscriptionEnd::Cancelled)), "{:?}", both.end());
            assert!(heard.try_recv().is_err(), "all of it belongs to a stream");
        }
    });
}
