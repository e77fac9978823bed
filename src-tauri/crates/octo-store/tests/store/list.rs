//! The session list, and search by words.

use crate::{create, emit, home, sample};
use octo_protocol::*;
use octo_store::{Store, StoreError};

async fn titles(store: &Store, query: &str) -> (Vec<String>, u64) {
    let query = query.to_owned();
    let (page, total) = store.read(move |reader| reader.sessions(&query, 0, 100)).await.unwrap();
    (page.into_iter().map(|info| info.title).collect(), total)
}

async fn found(store: &Store, query: &str) -> Vec<String> {
    let query = query.to_owned();
    let found =
        store.read(move |reader| reader.search(&query, &SessionFilter::default(), 100)).await.unwrap();
    found
        .into_iter()
        .map(|result| {
            format!(
                "{}{}{}",
                result.info.title,
                if result.message.is_some() { ": " } else { " = " },
                result.snippet
            )
        })
        .collect()
}

#[tokio::test]
async fn pinned_first_then_newest_and_titles_are_found_by_any_part() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let lines = [
        ("Fix the parser", 30, false),
        ("写一个解析器", 20, false),
        ("100% \"quoted\" _under_", 40, false),
        ("Old but pinned", 10, true),
        ("ÄRGER mit Umlauten", 25, false),
    ];
    for (title, updated_at, pinned) in lines {
        create(&store, &SessionInfo { updated_at, pinned, ..sample::head(title) }).await;
    }
    let all =
        ["Old but pinned", "100% \"quoted\" _under_", "Fix the parser", "ÄRGER mit Umlauten", "写一个解析器"];
    let cases: [(&str, &[&str]); 17] = [
        ("", &all),
        ("  ", &all),
        ("PARSER", &["Fix the parser"]),
        ("fix the", &["Fix the parser"]),
        ("parser the", &[]),
        ("解析器", &["写一个解析器"]),
        ("解析", &["写一个解析器"]),
        ("析", &["写一个解析器"]),
        ("析解", &[]),
        ("%", &["100% \"quoted\" _under_"]),
        ("_u", &["100% \"quoted\" _under_"]),
        ("\"quoted\"", &["100% \"quoted\" _under_"]),
        ("\"", &["100% \"quoted\" _under_"]),
        ("ärger", &["ÄRGER mit Umlauten"]),
        ("title:fix", &[]),
        ("fix OR old", &[]),
        ("pin\0ned", &["Old but pinned"]),
    ];
    for (query, expected) in cases {
        let (page, total) = titles(&store, query).await;
        assert_eq!(page, expected, "{query:?}");
        assert_eq!(total, expected.len() as u64, "{query:?}");
    }
    let second = store.read(|reader| reader.sessions("", 1, 2)).await.unwrap();
    assert_eq!(second.0.iter().map(|info| info.title.as_str()).collect::<Vec<_>>(), &all[1..3]);
    assert_eq!(second.1, 5);
    store.close();
}

#[tokio::test]
async fn a_renamed_session_is_found_by_its_new_title_only() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let mut info = sample::head("before");
    create(&store, &info).await;
    info.title = "afterwards".to_owned();
    emit(&store, info.id, vec![Event::SessionChanged { info: info.clone() }]).await.unwrap();
    assert_eq!(titles(&store, "before").await.1, 0);
    assert_eq!(titles(&store, "afterw").await.1, 1);
    store.close();
}

#[tokio::test]
async fn words_of_the_person_and_the_model_are_found_and_nothing_else() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let mut ids = Vec::new();
    for title in ["one", "two", "gone"] {
        let info = sample::head(title);
        create(&store, &info).await;
        let turn = sample::turn();
        let reply = sample::model(turn.id);
        let thinking = Block::Reasoning { text: "hidden thoughts".to_owned(), replay: None };
        let dropped = sample::model(turn.id);
        let events = vec![
            Event::TurnStarted { turn: turn.clone() },
            Event::MessageAdded {
                message: sample::person(
                    turn.id,
                    vec![sample::text(&format!("Please look\nat the Kessel of {title}"))],
                ),
            },
            Event::MessageAdded { message: sample::octo(turn.id, vec![sample::text("injected words")]) },
            Event::MessageStarted { message: dropped.clone() },
            Event::BlockAdded { message: dropped.id, index: 0, block: sample::text("discarded words") },
            Event::MessageDiscarded { message: dropped.id },
            Event::MessageStarted { message: reply.clone() },
            Event::BlockAdded { message: reply.id, index: 0, block: thinking },
            Event::BlockAdded {
                message: reply.id, index: 1, block: sample::text("锅炉的压力太高了。")
            },
            Event::BlockAdded {
                message: reply.id,
                index: 2,
                block: sample::text("The one pressure is too high."),
            },
        ];
        emit(&store, info.id, events).await.unwrap();
        ids.push(info.id);
    }
    let deleted = ids[2];
    store.write(move |tx| tx.soft_delete(deleted, 5)).await.unwrap();
    let cases: [(&str, &[&str]); 14] = [
        ("kessel", &["two: Please look at the Kessel of two", "one: Please look at the Kessel of one"]),
        ("look at", &["two: Please look at the Kessel of two", "one: Please look at the Kessel of one"]),
        ("kessel two", &["two: Please look at the Kessel of two"]),
        ("of Kessel", &["two: Please look at the Kessel of two", "one: Please look at the Kessel of one"]),
        ("one", &["one = one", "two: The one pressure is too high.", "one: The one pressure is too high."]),
        ("压力太高", &["two: 锅炉的压力太高了。", "one: 锅炉的压力太高了。"]),
        ("压力", &["two: 锅炉的压力太高了。", "one: 锅炉的压力太高了。"]),
        ("炉 压力太高", &["two: 锅炉的压力太高了。", "one: 锅炉的压力太高了。"]),
        ("炉 高压", &[]),
        ("hidden", &[]),
        ("injected", &[]),
        ("discarded", &[]),
        ("", &[]),
        ("\" ) NEAR(", &[]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&store, query).await, expected, "{query:?}");
    }
    assert_eq!(
        store.read(|reader| reader.search("kessel", &SessionFilter::default(), 1)).await.unwrap().len(),
        1
    );

    let restored = store.write(move |tx| tx.undelete(deleted)).await.unwrap();
    assert_eq!(restored.title, "gone");
    assert_eq!(found(&store, "kessel").await.len(), 3);
    store.close();
}

#[tokio::test]
async fn short_words_are_found_in_old_texts_at_any_position() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let texts =
        ["针线 first", "in the 针线 middle", "at the end 针线", "针线", "Ω", "the Ωx", "a 针 and a 线"];
    for text in texts {
        let info = sample::head("old");
        create(&store, &info).await;
        let message = sample::person(TurnId::new(), vec![sample::text(text)]);
        emit(&store, info.id, vec![Event::MessageAdded { message }]).await.unwrap();
    }
    let newer = sample::head("newer");
    create(&store, &newer).await;
    let filler = (0..4_100)
        .map(|n| Event::MessageAdded {
            message: sample::person(TurnId::new(), vec![sample::text(&n.to_string())]),
        })
        .collect();
    emit(&store, newer.id, filler).await.unwrap();
    let cases: [(&str, &[&str]); 6] = [
        ("针线", &["old: 针线", "old: at the end 针线", "old: in the 针线 middle", "old: 针线 first"]),
        ("针线 st", &["old: 针线 first"]),
        (
            "线",
            &[
                "old: a 针 and a 线",
                "old: 针线",
                "old: at the end 针线",
                "old: in the 针线 middle",
                "old: 针线 first",
            ],
        ),
        ("ω", &["old: the Ωx", "old: Ω"]),
        ("线针", &[]),
        ("17", &["newer: 4017"]),
    ];
    for (query, expected) in cases {
        assert_eq!(found(&store, query).await, expected, "{query:?}");
    }
    store.close();
}

#[tokio::test]
async fn a_long_text_is_shown_around_the_match() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("long");
    create(&store, &info).await;
    let long_text = format!("{} needle {}", "字".repeat(500), "é ".repeat(500));
    let message = sample::person(TurnId::new(), vec![sample::text(&long_text)]);
    emit(&store, info.id, vec![Event::MessageAdded { message }]).await.unwrap();
    let [snippet] = <[String; 1]>::try_from(found(&store, "needle").await).unwrap();
    assert!(
        snippet.starts_with("long: …字字") && snippet.contains("字 needle é é") && snippet.ends_with('…'),
        "{snippet}"
    );
    assert!(snippet.chars().count() < 180, "{snippet}");
    store.close();
}

#[tokio::test]
async fn a_deleted_session_is_unlisted_until_restored() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let info = sample::head("here");
    let id = info.id;
    create(&store, &info).await;
    emit(&store, id, vec![Event::TurnStarted { turn: sample::turn() }]).await.unwrap();
    store.write(move |tx| tx.soft_delete(id, 77)).await.unwrap();
    let (session, snapshot, resume, newest, list, unfinished) = store
        .read(move |reader| {
            Ok((
                reader.session(id)?,
                reader.snapshot(id, 10)?,
                reader.resume(id)?,
                reader.newest_session_in("/home/me/project")?,
                reader.list_snapshot(10)?,
                reader.unfinished_sessions(Source::Window)?,
            ))
        })
        .await
        .unwrap();
    assert_eq!((session, snapshot, resume, newest), (None, None, None, None));
    assert_eq!((list.sessions, list.total, list.seq), (vec![], 0, 2));
    assert_eq!(unfinished, []);
    let page = store.read(move |reader| reader.page(id, None, 10)).await;
    assert!(matches!(page, Err(StoreError::UnknownSession(_))));
    let twice = store.write(move |tx| tx.soft_delete(id, 78)).await;
    assert!(matches!(twice, Err(StoreError::UnknownSession(_))));

    store.write(move |tx| tx.undelete(id)).await.unwrap();
    store.write(move |tx| tx.undelete(id)).await.unwrap();
    let (list, unfinished, events) = store
        .read(move |reader| {
            let events = reader.events_since(&StoredTopic::Sessions, 0, 100)?;
            Ok((reader.list_snapshot(10)?, reader.unfinished_sessions(Source::Window)?, events))
        })
        .await
        .unwrap();
    assert_eq!((list.sessions, list.total, list.seq), (vec![info.clone()], 1, 3));
    assert_eq!(unfinished, [id]);
    let events: Vec<Event> = events.into_iter().map(|envelope| envelope.event).collect();
    let listed = Event::SessionListed { info };
    assert_eq!(events, [listed.clone(), Event::SessionRemoved { id }, listed]);
    store.close();
}

#[tokio::test]
async fn the_newest_of_a_folder_is_never_the_demo() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let lines = [
        ("a", "/a", 10, Source::Window),
        ("b", "/a", 20, Source::Headless),
        ("demo", "/a", 30, Source::Demo),
        ("other", "/a/b", 40, Source::Window),
    ];
    for (title, folder, updated_at, source) in lines {
        create(&store, &SessionInfo { folder: folder.to_owned(), updated_at, source, ..sample::head(title) })
            .await;
    }
    for (folder, expected) in [("/a", Some("b")), ("/a/b", Some("other")), ("/", None), ("/a/", None)] {
        let newest = store.read(move |reader| reader.newest_session_in(folder)).await.unwrap();
        assert_eq!(newest.as_ref().map(|info| info.title.as_str()), expected, "{folder}");
    }
    store.close();
}

#[tokio::test]
async fn folders_are_counted_and_ordered_by_last_use() {
    let home = home();
    let store = Store::open(home.path()).unwrap();
    let head = |folder: &str, updated_at, pinned, status| SessionInfo {
        folder: folder.to_owned(),
        updated_at,
        pinned,
        status,
        ..sample::head("one")
    };
    let deleted_head = head("/left", 90, false, SessionStatus::Idle);
    for info in [
        head("/old", 10, false, SessionStatus::Idle),
        head("/new", 20, false, SessionStatus::Failed),
        head("/new", 5, false, SessionStatus::Running),
        head("/new", 70, true, SessionStatus::Idle),
        head("/old", 80, false, SessionStatus::Waiting),
        head("/pinned", 85, true, SessionStatus::Idle),
        deleted_head.clone(),
    ] {
        create(&store, &info).await;
    }
    store.write(move |tx| tx.soft_delete(deleted_head.id, 1)).await.unwrap();
    let folders = store.read(|reader| reader.session_folders()).await.unwrap();
    let copied: Vec<_> = folders
        .iter()
        .map(|folder_entry| (folder_entry.path.as_str(), folder_entry.sessions, folder_entry.updated_at))
        .collect();
    assert_eq!(copied, [("/new", 2, 20), ("/old", 1, 10)]);
}
