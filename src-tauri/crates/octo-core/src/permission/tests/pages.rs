//! Actions in the browser, and the files a page receives.

use super::*;

fn in_browser(assessment: Option<octo_tools::BrowserAssessment>) -> Effects {
    let wish = octo_tools::BrowserRequest { tab: None, action: octo_tools::BrowserAction::Tabs };
    let mut effects = Effects::in_browser(wish);
    if let Some(effect) = &mut effects.browser {
        effect.assessment = assessment;
    }
    effects
}

fn weighed(site: &str, entry: octo_tools::LocationAccess, risks: &[octo_protocol::PageRisk]) -> Effects {
    let location = Some(octo_tools::BrowserLocation { site: site.to_owned(), access: entry });
    in_browser(Some(octo_tools::BrowserAssessment { location, risks: risks.to_vec(), ..Default::default() }))
}

#[test]
fn what_was_not_looked_at_in_the_browser_asks_in_every_mode() {
    let (_keep, folder) = work();
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        assert_eq!(reason(&ground(mode, &folder), &in_browser(None)), Some(AskReason::Mode), "{mode:?}");
    }
}

#[test]
fn sites_are_asked_about_unless_the_task_a_rule_or_the_mode_grants_them() {
    use octo_tools::LocationAccess;
    let (_keep, folder) = work();
    let shop = "https://shop.example";
    let rule = Rule::Site { site: shop.to_owned() };
    for (entry, by_task, by_rule, by_mode) in [
        (LocationAccess::Open, true, true, true),
        (LocationAccess::Asks, true, true, true),
        (LocationAccess::AsksEachTurn, true, false, true),
        (LocationAccess::AsksEachTime, false, false, false),
    ] {
        let effects = weighed(shop, entry.clone(), &[]);
        let runs = |context: &PermissionContext| reason(context, &effects).is_none();
        let plain = ground(Mode::AskRisky, &folder);
        assert_eq!(runs(&plain), entry == LocationAccess::Open, "{entry:?}");
        assert_eq!(
            runs(&PermissionContext { granted_to_turn: vec![shop.to_owned()], ..plain.clone() }),
            by_task,
            "{entry:?}"
        );
        assert_eq!(
            runs(&PermissionContext { rules: vec![rule.clone()], ..plain.clone() }),
            by_rule,
            "{entry:?}"
        );
        assert_eq!(runs(&ground(Mode::Autonomous, &folder)), by_mode, "{entry:?}");
        let other =
            PermissionContext { granted_to_turn: vec!["https://shop.example.evil".to_owned()], ..plain };
        assert_eq!(runs(&other), entry == LocationAccess::Open, "{entry:?}: another site");
    }
    let asked = |entry| decide(&ground(Mode::AskRisky, &folder), &weighed(shop, entry, &[])).decision;
    assert!(matches!(asked(LocationAccess::Asks), Decision::Ask { rule: Some(Rule::Site { .. }), .. }));
    assert!(matches!(asked(LocationAccess::AsksEachTurn), Decision::Ask { rule: None, .. }));
    let never = asked(LocationAccess::Never { why: "because".into() });
    assert!(matches!(never, Decision::Deny { refusal: Refusal::Address, part: Some(_), .. }), "{never:?}");
}

#[test]
fn a_granted_plain_site_covers_its_encrypted_one_and_not_the_other_way_round() {
    use octo_tools::LocationAccess;
    let (_keep, folder) = work();
    let runs = |granted: &str, site: &str| {
        let context = PermissionContext {
            granted_to_turn: vec![granted.to_owned()],
            ..ground(Mode::AskRisky, &folder)
        };
        reason(&context, &weighed(site, LocationAccess::Asks, &[])).is_none()
    };
    assert!(runs("http://a.example", "https://a.example"));
    assert!(!runs("https://a.example", "http://a.example"));
    assert!(!runs("http://a.example:81", "https://a.example:81"));
}

#[test]
fn what_cannot_be_taken_back_asks_in_every_mode_and_by_no_rule() {
    use octo_protocol::PageRisk;
    use octo_tools::LocationAccess;
    let (_keep, folder) = work();
    let shop = "https://shop.example".to_owned();
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        let context = PermissionContext {
            granted_to_turn: vec![shop.clone()],
            rules: vec![Rule::Site { site: shop.clone() }],
            ..ground(mode, &folder)
        };
        let effects = weighed(&shop, LocationAccess::Asks, &[PageRisk::Pays, PageRisk::Sends]);
        let Decision::Ask { reason, rule } = decide(&context, &effects).decision else {
            panic!("{mode:?} asks")
        };
        assert_eq!(rule, None);
        assert_eq!(
            reason,
            AskReason::Page {
                risk: PageRisk::Pays,
                besides: vec![PageRisk::Sends],
                site: shop.clone(),
                target: None,
                files: Vec::new()
            }
        );
    }
}

#[test]
fn a_file_that_is_given_away_is_asked_about_with_the_page_that_gets_it() {
    use octo_protocol::{PageFile, PageRisk};
    use octo_tools::{InspectionDepth, LocationAccess};
    let (_keep, folder) = work();
    let site = "https://a.example";
    let (secret, plain) = (folder.join(".env"), folder.join("a.txt"));
    let outside = PathBuf::from("/etc/hosts");
    let all = vec![plain.clone(), outside.clone(), secret.clone()];
    let risks = [PageRisk::Pays, PageRisk::Uploads];
    let about = |mode, files: &[PathBuf]| {
        let effects = Effects { reads: files.to_vec(), ..weighed(site, LocationAccess::Asks, &risks) };
        match reason(&ground(mode, &folder), &effects) {
            Some(AskReason::Page { risk: PageRisk::Pays, besides, site: at, files, .. }) => {
                assert_eq!((besides.as_slice(), at.as_str()), (&[PageRisk::Uploads][..], site));
                files
            }
            other => panic!("one question about all of it: {other:?}"),
        }
    };
    let path_text = |path: &Path| path.display().to_string();
    for mode in [Mode::Ask, Mode::AskRisky, Mode::Autonomous] {
        assert_eq!(about(mode, std::slice::from_ref(&plain)), []);
        let expected =
            [PageFile::Outside { path: path_text(&outside) }, PageFile::Secret { path: path_text(&secret) }];
        assert_eq!(about(mode, &all), expected, "{mode:?}");
    }
    // A page of an ungranted site is unknown: the first question is about the site, and reveals nothing.
    let decision_after = |inspected| {
        let location =
            Some(octo_tools::BrowserLocation { site: site.to_owned(), access: LocationAccess::Asks });
        let assessment = octo_tools::BrowserAssessment { location, inspected, ..Default::default() };
        let effects = Effects { reads: vec![secret.clone()], ..in_browser(Some(assessment)) };
        reason(&ground(Mode::AskRisky, &folder), &effects)
    };
    assert_eq!(
        decision_after(InspectionDepth::LocationOnly),
        Some(AskReason::Site { site: site.to_owned() })
    );
    assert!(
        matches!(decision_after(InspectionDepth::Full), Some(AskReason::Secret { .. })),
        "what is not known asks"
    );
}
