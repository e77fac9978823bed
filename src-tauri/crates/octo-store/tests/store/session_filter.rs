//! Which sessions a filter accepts, their order, and the position of matches.

use crate::{create, emit, home, sample};
use octo_protocol::*;
use octo_store::{Reader, Store, StoreError};
use proptest::prelude::*;

/// The filter's rule, written again without SQL.
fn lets(filter: &SessionFilter, info: &SessionInfo) -> bool {
    let status = match filter.status {
        None => true,
        Some(SessionMark::Running) => info.status == SessionStatus::Running,
        Some(SessionMark::Waiting) => info.status == SessionStatus::Waiting,
        Some(SessionMark::Failed) => info.status == SessionStatus::Failed,
        Some(SessionMark::Unread) => {
            matches!(info.status, SessionStatus::Idle | SessionStatus::Failed)
                && info.updated_at > info.read_at.unwrap_or(0)
        }
    };
    status
        && filter.source.is_none_or(|source| info.source == source)
        && filter.profile.as_ref().is_none_or(|profile| info.profile == *profile)
        && filter.folder.as_ref().is_none_or(|folder| info.folder == *folder)
        && filter.since.is_none_or(|since| info.updated_at >= since)
        && filter.until.is_none_or(|until| info.updated_at < until)
}

fn any_head() -> impl Strategy<Value = SessionInfo> {
    (
        0..4_usize,
        0..3_usize,
        0..2_usize,
        0..3_usize,
        0..20_i64,
        proptest::option::of(0..20_i64),
        any::<bool>(),
    )
        .prop_map(|(status, source, profile, folder, updated_at, read_at, pinned)| SessionInfo {
            status: [
                SessionStatus::Idle,
                SessionStatus::Running,
                SessionStatus::Waiting,
                SessionStatus::Failed,
            ][status],
            source: [Source::Window, Source::Headless, Source::Demo][source],
            profile: [Profile::GENERAL, Profile::CODING][profile].clone(),
            folder: ["/a", "/a/b", "/%"][folder].to_owned(),
            updated_at,
            read_at,
            pinned,
            ..sample::head(["a heron", "two herons", "a gull"][folder])
        })
}

fn any_filter() -> impl Strategy<Value = SessionFilter> {
    let status = prop_oneof![
        Just(None),
        Just(Some(SessionMark::Running)),
        Just(Some(SessionMark::Waiting)),
        Just(Some(SessionMark::Failed)),
        Just(Some(SessionMark::Unread)),
    ];
    let source = prop_oneof![Just(None), Just(Some(Source::Window)), Just(Some(Source::Headless))];
    let profile = prop_oneof![Just(None), Just(Some(Profile::CODING))];
    let folder = prop_oneof![Just(None), Just(Some("/a".to_owned())), Just(Some("/%".to_owned()))];
    let moment = || proptest::option::of(0..20_i64);
    (status, source, profile, folder, moment(), moment()).prop_map(
        |(status, source, profile, folder, since, until)| SessionFilter {
            source,
            profile,
            status,
            folder,
            since,
            until,
        },
    )
}

fn page(
    reader: &Reader<'_>,
    query: &str,
    filter: &SessionFilter,
) -> Result<(Vec<SessionInfo>, u64), StoreError> {
    let (mut sessions, mut total) = (Vec::new(), 0);
    loop {
        let (more, counted) =
            reader.sessions_where(query, filter, u32::try_from(sessions.len()).unwrap(), 3)?;
        total = counted.max(total);
        if more.is_empty() {
            return Ok((sessions, total));
        }
        sessions.extend(more);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_filter_keeps_matching_sessions_in_list_order(
        heads in proptest::collection::vec(any_head(), 1..14), filters in proptest::collection::vec(any_filter(), 1..8),
    ) {
        let home = home();
        let store = Store::open(home.path()).unwrap();
        let mut infos = Vec::new();
        for info in heads {
            let session = crate::new(info.clone());
            store.write_blocking(move |tx| tx.create_session(&session)).unwrap();
            infos.push(info);
        }
        // Later created, shown first, if everything else is equal.
        infos.reverse();
        infos.sort_by_key(|info| {
            (info.status != SessionStatus::Waiting, !info.pinned, std::cmp::Reverse(info.updated_at))
        });
        for filter in filters {
            for query in ["", "heron", "gu"] {
                let expected: Vec<SessionInfo> = infos
                    .iter()
                    .filter(|info| lets(&filter, info) && info.title.contains(query))
                    .cloned()
                    .collect();
                let (filter, query) = (filter.clone(), query.to_owned());
                let (found, total) =
                    store.read_blocking(move |reader| page(reader, &query, &filter)).unwrap();
                prop_assert_eq!(total, expected.len() as u64);
                prop_assert_eq!(found, expected);
            }
        }
        store.close();
    }
}

#[tokio::test]
async fn texts_are_searched_within_the_filter_and_words_are_marked() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    for (title, source) in [("one", Source::Window), ("two", Source::Headless)] {
        let info = SessionInfo { source, ..sample::head(title) };
        create(&store, &info).await;
        let text = format!("🐙 Die Möwe of {title} saw 一只苍鹭 and the moewe");
        let message = sample::person(TurnId::new(), vec![sample::text(&text)]);
        emit(&store, info.id, vec![Event::MessageAdded { message }]).await.unwrap();
    }
    let search = async |query: &'static str, source: Option<Source>| {
        let filter = SessionFilter { source, ..SessionFilter::default() };
        store.read(move |reader| reader.search(query, &filter, 10)).await.unwrap()
    };
    assert_eq!(search("möwe", None).await.len(), 2);
    let found = search("möwe", Some(Source::Headless)).await;
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((result.info.title.as_str(), result.message.is_some()), ("two", true));
    assert_eq!(search("möwe", Some(Source::Demo)).await, []);
    // Positions count as the page does: the octopus takes two.
    for (query, expected) in [
        ("MÖWE", vec!["Möwe"]),
        ("saw möwe", vec!["Möwe", "saw"]),
        ("苍鹭 一只", vec!["一只苍鹭"]),
        ("苍鹭 die", vec!["Die", "苍鹭"]),
    ] {
        let result = search(query, Some(Source::Headless)).await.remove(0);
        let units: Vec<u16> = result.snippet.encode_utf16().collect();
        let marked_text: Vec<String> = result
            .marks
            .iter()
            .map(|mark| String::from_utf16(&units[mark.start as usize..mark.end as usize]).unwrap())
            .collect();
        assert_eq!(marked_text, expected, "{query}");
    }
    store.close();
}

#[tokio::test]
async fn a_title_does_not_hide_the_message_that_matches_too() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("The heron");
    create(&store, &info).await;
    let message = sample::person(TurnId::new(), vec![sample::text("a heron indeed")]);
    let id = message.id;
    emit(&store, info.id, vec![Event::MessageAdded { message }]).await.unwrap();
    let found_sessions =
        store.read(|reader| reader.search("heron", &SessionFilter::default(), 9)).await.unwrap();
    let found: Vec<_> =
        found_sessions.iter().map(|result| (result.snippet.as_str(), result.message)).collect();
    assert_eq!(found, [("The heron", None), ("a heron indeed", Some(id))]);
    store.close();
}
