//! Work that waits for the test, so that "while it runs" needs no sleeping.

use std::sync::{Arc, Condvar, Mutex};

use super::TIMEOUT;

/// A gate in front of some work; clones are the same gate. Call [`Gate::pass`] in an injected dispatch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Gate {
    /// A closed one.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Called by the work: waits until the gate is open.
    pub(crate) fn pass(&self) {
        self.arrive();
        self.wait_until("the gate was not opened", |state| state.open);
    }

    /// Called by work that does not wait: it has got this far.
    pub(crate) fn arrive(&self) {
        self.change(|state| state.arrived += 1);
    }

    /// Called by the test: waits until `arrived` have arrived at the gate, whether or not they have passed it.
    pub(crate) fn wait_for(&self, arrived: usize) {
        self.wait_until("nobody came to the gate", |state| state.arrived >= arrived);
    }

    /// How many have arrived so far.
    pub(crate) fn arrived(&self) -> usize {
        self.0.0.lock().unwrap().arrived
    }

    /// Lets everything pass from now on.
    pub(crate) fn open(&self) {
        self.change(|state| state.open = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.0.lock().unwrap());
        self.0.1.notify_all();
    }

    fn wait_until(&self, otherwise: &str, reached: impl Fn(&State) -> bool) {
        let state = self.0.0.lock().unwrap();
        let (state, _) = self.0.1.wait_timeout_while(state, TIMEOUT, |state| !reached(state)).unwrap();
        let reached = reached(&state);
        drop(state);
        assert!(reached, "{otherwise} in {TIMEOUT:?}");
    }
}
