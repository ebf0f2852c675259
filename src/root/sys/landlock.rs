//! Landlock (landlock(7)): a process gives up what it does not need, once and for all.
//!
//! | kernel | interface | what comes with it |
//! | --- | --- | --- |
//! | 5.13 | 1 | opening, listing, making and removing, outside of what is allowed |
//! | 5.19 | 2 | moving from one directory to another can be allowed; before, it is refused everywhere |
//! | 6.2 | 3 | truncating |
//! | 6.7 | 4 | TCP |
//! | 6.10 | 5 | commands to devices |
//! | 6.12 | 6 | signals and abstract sockets |

use cap_std::fs::Dir;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};

/// The newest interface that these rules were tested with.
const NEWEST: ABI = ABI::V6;

/// What reading takes.
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// What changing takes besides. Links, FIFOs and sockets are never made by us, but moved; devices are not.
const CHANGE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | RemoveFile | RemoveDir | MakeReg | MakeDir | MakeSym | MakeFifo | MakeSock | Refer
});

/// Confines this thread and its children to what is below `dir`, by the directory itself and not by its name. Gives
/// the version of the interface; fails, and nothing is confined, where less than what is needed would be enforced.
pub(in crate::root) fn enter_sandbox(dir: &Dir, writable: bool, required: bool) -> Result<u32, String> {
    let (least, linux) = match (required, writable) {
        (true, _) => (AccessFs::from_all(ABI::V3), "6.2"),
        // Without it no file could be moved to another directory.
        (false, true) => (AccessFs::from_all(ABI::V2), "5.19"),
        (false, false) => (AccessFs::from_all(ABI::V1), "5.13"),
    };
    restrict(dir, writable, least).map_err(|error| match error {
        RulesetError::HandleAccesses(_) => {
            format!("Landlock is older than Linux {linux}, switched off, or refused by a sandbox around this process")
        }
        // Clients are told, and so no number of an error.
        _ => "Landlock is there, and the system refuses to set it up".to_owned(),
    })
}

fn restrict(dir: &Dir, writable: bool, least: BitFlags<AccessFs>) -> Result<u32, RulesetError> {
    let allowed = if writable { READ | CHANGE } else { READ };
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(least)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rule(PathBeneath::new(dir, allowed))?
        .restrict_self()?;
    Ok(match restricted.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as u32,
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => 0,
    })
}
