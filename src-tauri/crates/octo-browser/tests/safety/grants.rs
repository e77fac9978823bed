//! The sites that a turn may use, step by step.

use super::site;
use octo_browser::safety::{
    ForbiddenReason, GrantLifetime, GrantScope, PageAddress, PageStep, RecordedGrant, SiteGrants, SiteKind,
    SiteQuestion, SiteVerdict, StepRefusal, TabNumber,
};
use proptest::prelude::*;

const TAB: TabNumber = TabNumber(1);
const OTHER_TAB: TabNumber = TabNumber(2);

fn question(grants: &SiteGrants, tab: TabNumber, step: PageStep, address: &str) -> SiteQuestion {
    match grants.check(tab, step, &PageAddress::of(address)) {
        SiteVerdict::Ask(question) => question,
        other => panic!("{address} should ask: {other:?}"),
    }
}

fn allowed(grants: &SiteGrants, tab: TabNumber, step: PageStep, address: &str) -> bool {
    matches!(grants.check(tab, step, &PageAddress::of(address)), SiteVerdict::Allowed(_))
}

#[test]
fn a_grant_covers_one_site_only() {
    let mut grants = SiteGrants::default();
    let allowed_question = question(&grants, TAB, PageStep::Navigate, "https://shop.example/a?b");
    assert_eq!(
        (allowed_question.kind(), allowed_question.max_lifetime()),
        (SiteKind::Web, GrantLifetime::Always)
    );
    assert_eq!(allowed_question.scope(), &GrantScope::Site(site("https://shop.example")));
    assert_eq!(grants.allow(TAB, allowed_question, GrantLifetime::Turn), RecordedGrant::Turn);
    for step in [PageStep::Navigate, PageStep::Commit, PageStep::Read, PageStep::Act] {
        assert!(allowed(&grants, OTHER_TAB, step, "https://shop.example/other"), "{step:?}");
        for other in [
            "http://shop.example",
            "https://shop.example:8443",
            "https://www.shop.example",
            "https://shop.example.evil.example",
            "https://xn--shp-ula.example",
        ] {
            assert!(!allowed(&grants, TAB, step, other), "{step:?} {other}");
        }
    }
}

#[test]
fn a_redirect_is_judged_on_its_own_and_ends_a_single_grant() {
    let mut grants = SiteGrants::default();
    let first_question = question(&grants, TAB, PageStep::Navigate, "https://a.example");
    assert_eq!(grants.allow(TAB, first_question, GrantLifetime::Once), RecordedGrant::Once);
    assert!(allowed(&grants, TAB, PageStep::Navigate, "https://a.example"));
    assert!(!allowed(&grants, OTHER_TAB, PageStep::Navigate, "https://a.example"), "in that tab only");
    assert!(matches!(
        grants.record_commit(TAB, &PageAddress::of("https://a.example/in")),
        SiteVerdict::Allowed(_)
    ));
    assert!(allowed(&grants, TAB, PageStep::Act, "https://a.example/in"));
    assert!(matches!(
        grants.record_commit(TAB, &PageAddress::of("https://evil.example")),
        SiteVerdict::Ask(_)
    ));
    assert!(!allowed(&grants, TAB, PageStep::Read, "https://evil.example"));
    assert!(!allowed(&grants, TAB, PageStep::Act, "https://a.example"), "coming back asks again");
}

#[test]
fn a_permit_covers_one_step_in_one_place() {
    let grants = SiteGrants::new([site("https://a.example")]);
    let address = PageAddress::of("https://a.example/x");
    let SiteVerdict::Allowed(permit) = grants.check(TAB, PageStep::Read, &address) else { panic!("granted") };
    assert!(permit.is_for(TAB, PageStep::Read, &address));
    assert!(
        !permit.is_for(TAB, PageStep::Act, &address) && !permit.is_for(OTHER_TAB, PageStep::Read, &address)
    );
    assert!(!permit.is_for(TAB, PageStep::Read, &PageAddress::of("https://b.example")));
}

#[test]
fn no_grant_outlives_what_its_kind_allows() {
    for (address, kind, max_lifetime) in [
        ("https://a.example", SiteKind::Web, GrantLifetime::Always),
        ("http://localhost:3000", SiteKind::Near, GrantLifetime::Turn),
        ("http://192.168.1.1", SiteKind::Near, GrantLifetime::Turn),
        ("http://localhost:2375", SiteKind::Administration, GrantLifetime::Once),
        ("http://169.254.169.254", SiteKind::Metadata, GrantLifetime::Once),
        ("chrome://settings", SiteKind::Browser, GrantLifetime::Once),
        ("chrome://password-manager", SiteKind::Passwords, GrantLifetime::Once),
        ("https://vault.bitwarden.com", SiteKind::Passwords, GrantLifetime::Once),
        ("chrome-extension://abcdefghijklmnopabcdefghijklmnop/x", SiteKind::Extension, GrantLifetime::Once),
        ("file:///etc/passwd", SiteKind::File, GrantLifetime::Once),
        ("view-source:https://a.example", SiteKind::Browser, GrantLifetime::Once),
    ] {
        let mut grants = SiteGrants::default();
        let act_question = question(&grants, TAB, PageStep::Act, address);
        assert_eq!((act_question.kind(), act_question.max_lifetime()), (kind, max_lifetime), "{address}");
        let grant = grants.allow(TAB, act_question, GrantLifetime::Always);
        assert_eq!(
            matches!(grant, RecordedGrant::Always(_)),
            max_lifetime == GrantLifetime::Always,
            "{address}"
        );
        assert!(allowed(&grants, TAB, PageStep::Act, address), "{address}");
        assert_eq!(
            allowed(&grants, OTHER_TAB, PageStep::Act, address),
            max_lifetime > GrantLifetime::Once,
            "{address}"
        );
        grants.forget_tab(TAB);
        assert_eq!(
            allowed(&grants, TAB, PageStep::Act, address),
            max_lifetime > GrantLifetime::Once,
            "{address}"
        );
    }
    let stored = SiteGrants::new([site("http://localhost:3000"), site("https://a.example")]);
    assert_eq!(stored.turn_scopes().count(), 1, "a near site is never allowed for ever");
}

#[test]
fn some_addresses_are_refused_despite_grants() {
    let mut grants = SiteGrants::default();
    grants.refuse_port(9222);
    for (address, reason) in [
        ("javascript:alert(1)", StepRefusal::Forbidden(ForbiddenReason::Script)),
        ("data:text/html,x", StepRefusal::Forbidden(ForbiddenReason::NoOrigin)),
        ("devtools://devtools", StepRefusal::Forbidden(ForbiddenReason::BrowserControl)),
        ("chrome://inspect", StepRefusal::Forbidden(ForbiddenReason::BrowserControl)),
        ("mailto:a@b.example", StepRefusal::Forbidden(ForbiddenReason::OtherProgram)),
        ("https://u:p@a.example", StepRefusal::Forbidden(ForbiddenReason::Credentials)),
        ("a.example", StepRefusal::Forbidden(ForbiddenReason::Unreadable)),
        ("http://127.0.0.1:9222/json", StepRefusal::DebuggingPort),
        ("http://[::1]:9222/json", StepRefusal::DebuggingPort),
        ("http://localhost:9222/json", StepRefusal::DebuggingPort),
        ("chrome-error://chromewebdata/", StepRefusal::ErrorPage),
    ] {
        assert_eq!(
            grants.check(TAB, PageStep::Act, &PageAddress::of(address)),
            SiteVerdict::Refused(reason),
            "{address}"
        );
    }
    assert!(
        allowed(&grants, TAB, PageStep::Read, "chrome-error://chromewebdata/"),
        "the error may be reported"
    );
    assert!(allowed(&grants, TAB, PageStep::Navigate, "about:blank"));
}

#[test]
fn a_grant_covers_the_upgrade_to_https_and_not_back() {
    let mut grants = SiteGrants::default();
    let upgrade = question(&grants, TAB, PageStep::Navigate, "http://a.example");
    let _ = grants.allow(TAB, upgrade, GrantLifetime::Once);
    assert!(matches!(
        grants.record_commit(TAB, &PageAddress::of("https://a.example")),
        SiteVerdict::Allowed(_)
    ));
    assert!(allowed(&grants, TAB, PageStep::Act, "https://a.example"));
    assert!(!allowed(&grants, TAB, PageStep::Act, "https://b.example"));
    let encrypted = SiteGrants::new([site("https://a.example")]);
    assert!(!allowed(&encrypted, TAB, PageStep::Act, "http://a.example"));
}

#[test]
fn a_revoked_grant_asks_again() {
    let mut grants = SiteGrants::new([site("https://a.example")]);
    grants.revoke(&GrantScope::Site(site("https://a.example")));
    assert!(!allowed(&grants, TAB, PageStep::Act, "https://a.example"));
}

proptest! {
    /// Whatever is requested, granted and visited: only granted sites are allowed.
    #[test]
    fn only_what_was_granted_is_allowed(
        steps in proptest::collection::vec((0_usize..4, 0_u8..4, 0_usize..5), 0..40),
    ) {
        const PLACES: [&str; 5] =
            ["https://a.example", "https://b.example", "http://localhost:3000", "file:///x", "chrome://settings"];
        let mut grants = SiteGrants::default();
        let mut granted = std::collections::BTreeSet::new();
        for (kind, lifetime, site_index) in steps {
            let address = PageAddress::of(PLACES[site_index]);
            match kind {
                0 => if let SiteVerdict::Ask(question) = grants.check(TAB, PageStep::Act, &address) {
                    let lifetime = [GrantLifetime::Once, GrantLifetime::Turn, GrantLifetime::Always][usize::from(lifetime % 3)];
                    let _ = grants.allow(TAB, question, lifetime);
                    granted.insert(site_index);
                },
                1 => { let _ = grants.record_commit(TAB, &address); }
                2 => grants.forget_tab(TAB),
                _ => {}
            }
            for (index, place) in PLACES.iter().enumerate() {
                if allowed(&grants, TAB, PageStep::Act, place) || allowed(&grants, OTHER_TAB, PageStep::Act, place) {
                    prop_assert!(granted.contains(&index), "{place}");
                }
            }
        }
    }
}
