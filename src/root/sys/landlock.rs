//! Landlock (landlock(7)): a process gives up, for good, the rights that it does not need.
//!
//! | kernel | interface | what it adds |
//! | --- | --- | --- |
//! | 5.13 | 1 | opening, listing, creating and removing outside of what is allowed |
//! | 5.19 | 2 | moving between directories can be allowed; before, it is always refused |
//! | 6.2 | 3 | truncating |
//! | 6.7 | 4 | TCP |
//! | 6.10 | 5 | device commands |
//! | 6.12 | 6 | signals and abstract sockets |

use cap_std::fs::Dir;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, Scope, make_bitflags,
};

/// The newest version of the interface that these rules were tested with.
const NEWEST: ABI = ABI::V6;

/// The rights that reading needs.
const READ: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// The additional rights that changes need. This server never creates links, FIFOs and sockets but moves them; devices
/// it does neither.
const CHANGE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | RemoveFile | RemoveDir | MakeReg | MakeDir | MakeSym | MakeFifo | MakeSock | Refer
});

/// Confines this thread and its children to what is below `dir`, by the directory itself and not by its name. Returns
/// the version of the interface. Fails, without confining anything, if less than required would be enforced.
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
        // Clients see this text, so it contains no error number.
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
