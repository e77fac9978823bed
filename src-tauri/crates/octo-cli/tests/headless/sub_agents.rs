//! The crash campaign of sub-agents: `kill -9` of `octo-cli serve` at random moments while a parent has up to
//! three of them running. After each kill every call has its one result, running sub-agents ended as
//! interrupted, their parent continues, and at the end the whole job can be undone.
//!
//! Seeded, with the length given by [`crate::campaign`].

mod task;

use crate::{
    campaign::{CampaignExtent, Random, kill},
    crash::known::{ClientReport, check_pairs, count},
    support::{PATIENCE, connect, serve, until},
};
use octo_protocol::{
    Block, CallState, CallStatus, CallView, Envelope, Event, ListSessions, Mode, OpenSession, Profile, Send,
    SessionId, SessionSnapshot, SessionStatus, StartSession, StoredTopic, SubAgentStatus, ToolView, TurnEnd,
};
use octo_store::Store;
use octo_testkit::{ModelServer, Script, ServeProcess, TempHome, day::EXPLORE};
use std::{collections::HashSet, time::Duration};
use task::{PARTS, part};

/// Number of kills per job before a new job starts.
const KILLS_PER_TASK: usize = 10;

/// Situations the campaign met.
#[derive(Debug, Default)]
struct SubAgentSituations {
    /// Sub-agents that a kill ended.
    interrupted: usize,
    /// Sub-agents that finished their work.
    done: usize,
    /// Kills while two or more of them were working.
    several: usize,
}

#[test]
fn sub_agents_end_with_their_process_and_the_parent_repeats_nothing() {
    let mut situations = SubAgentSituations::default();
    let extent = kill(20_261_123, KILLS_PER_TASK, |seed, kills| {
        let mut campaign = Campaign::begin(seed, kills);
        campaign.run();
        situations.interrupted += campaign.situations.interrupted;
        situations.done += campaign.situations.done;
        situations.several += campaign.situations.several;
        campaign.killed
    });
    println!("{situations:?}");
    assert!(situations.done > 0 && situations.interrupted > 0, "nothing was tried: {situations:?}");
    assert!(
        situations.several > 0 || extent == CampaignExtent::Part,
        "a full campaign comes upon everything: {situations:?}"
    );
}

/// One job, driven to its end through kills.
struct Campaign {
    home: TempHome,
    server: ModelServer,
    random: Random,
    /// Number of kills left, and number made.
    kills: usize,
    killed: usize,
    parent: Option<SessionId>,
    known: ClientReport,
    /// Sessions of sub-agents reported so far.
    children: HashSet<SessionId>,
    situations: SubAgentSituations,
}

impl Campaign {
    fn begin(seed: u64, kill_count: usize) -> Self {
        let home = TempHome::new();
        let skill = home.octo().join("skills").join("explore");
        std::fs::create_dir_all(&skill).expect("a folder of skills");
        std::fs::write(skill.join("SKILL.md"), EXPLORE).expect("a skill");
        Self {
            home,
            server: ModelServer::start(Script::from_fn(task::answer)),
            random: Random::new(seed),
            kills: kill_count,
            killed: 0,
            parent: None,
            known: ClientReport::default(),
            children: HashSet::new(),
            situations: SubAgentSituations::default(),
        }
    }

    fn run(&mut self) {
        loop {
            let more = self.killed < self.kills;
            let fuse = if more { usize::try_from(self.random.below(1, 160)).unwrap() } else { usize::MAX };
            let mut core = serve(&self.home);
            if !self.run_process(&mut core, fuse) {
                break self.finish(core);
            }
            std::thread::sleep(Duration::from_micros(self.random.below(0, 30_000)));
            let exit = core.kill();
            self.take(&exit.events);
            self.killed += 1;
        }
        self.server.assert_clean();
    }

    /// Runs one process up to this many events of any session; returns whether to kill it.
    fn run_process(&mut self, core: &mut ServeProcess, fuse: usize) -> bool {
        let parent = self.find(core);
        let snapshot = open(core, parent);
        self.known.check(&snapshot);
        self.known.begin(&snapshot);
        self.check_children(core, &snapshot);
        let mut place = 0;
        loop {
            let snapshot = open(core, parent);
            if snapshot.info.status == SessionStatus::Idle {
                for turn in &snapshot.page.turns {
                    assert_eq!(turn.end, Some(TurnEnd::Finished), "{:#?}", self.server.faults());
                }
                let begun = (1..=PARTS).take_while(|&number| count(&snapshot, &part(number)) > 0).count();
                if begun == PARTS {
                    return false;
                }
                core.call(Send { session: parent, blocks: text(&part(begun + 1)) }).expect("it is taken");
            }
            loop {
                if core.events().len() >= fuse {
                    return true;
                }
                let (next, envelope) = core.wait_after(place, PATIENCE, |_| true);
                place = next;
                let of_parent = envelope.topic == (StoredTopic::Session { id: parent });
                match &envelope.event {
                    Event::SessionChanged { info } if of_parent && info.status == SessionStatus::Idle => {
                        break;
                    }
                    Event::QuestionAsked { question } => panic!("nothing is asked here: {question:?}"),
                    _ => {}
                }
            }
        }
    }

    fn find(&mut self, core: &mut ServeProcess) -> SessionId {
        let call = ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 10 };
        let sessions = core.call(call).expect("the sessions are listed");
        assert!(sessions.sessions.len() <= 1, "sub-agents are in no list: {sessions:?}");
        if let Some(parent) = self.parent.or_else(|| sessions.sessions.first().map(|info| info.id)) {
            return parent;
        }
        let model = connect(core, &self.server).id;
        let start = StartSession {
            folder: self.home.work().display().to_string(),
            profile: Profile::GENERAL,
            mode: Mode::Autonomous,
            model: Some(model),
            effort: None,
            title: None,
            blocks: text(&part(1)),
        };
        let parent = core.call(start).expect("the session starts").id;
        self.parent = Some(parent);
        parent
    }

    /// Records everything a process reported before it was killed.
    fn take(&mut self, events: &[Envelope]) {
        let Some(parent) = self.parent else { return };
        self.known
            .take(events.iter().filter(|envelope| envelope.topic == (StoredTopic::Session { id: parent })));
        let mut at_work = HashSet::new();
        for envelope in events {
            let StoredTopic::Session { id } = envelope.topic else { continue };
            if id == parent {
                continue;
            }
            self.children.insert(id);
            match &envelope.event {
                Event::TurnStarted { .. } => at_work.insert(id),
                Event::TurnEnded { .. } => at_work.remove(&id),
                _ => false,
            };
        }
        self.situations.several += usize::from(at_work.len() > 1);
    }

    /// Checks that a new process runs no sub-agent of the old one, and that the cards say so.
    fn check_children(&mut self, core: &mut ServeProcess, parent: &SessionSnapshot) {
        let mut of_calls = HashSet::new();
        for call in &parent.page.calls {
            let Some(ToolView::SubAgent(card)) = &call.view else { continue };
            self.children.extend(card.session);
            let CallState::Ended { status, .. } = call.state else { continue };
            assert!(card.status.is_over(), "a call is over, its sub-agent is not: {call:?}");
            if let Some(child) = card.session {
                assert!(of_calls.insert(child), "two calls of one sub-agent: {call:?}");
            }
            check_card(call, status, card.status);
        }
        for child in self.children.clone() {
            let snapshot = open(core, child);
            check_pairs(&snapshot);
            let is_current = parent.page.calls.iter().any(|call| {
                let mine =
                    matches!(&call.view, Some(ToolView::SubAgent(card)) if card.session == Some(child));
                mine && !matches!(call.state, CallState::Ended { .. })
            });
            if is_current {
                continue;
            }
            assert!(snapshot.page.turns.len() <= 1, "nobody begins anything in it: {child}");
            let until_over =
                |snapshot: &SessionSnapshot| snapshot.page.turns.iter().all(|turn| turn.end.is_some());
            until("the sub-agent's end", || until_over(&open(core, child)).then_some(()));
        }
    }

    /// Checks a finished job: everything is present exactly once, and can be undone as one.
    fn finish(&mut self, mut core: ServeProcess) {
        let parent = self.parent.expect("a session");
        self.take(&core.events());
        let snapshot = open(&mut core, parent);
        self.known.check(&snapshot);
        self.check_children(&mut core, &snapshot);
        assert_eq!(snapshot.page.turns.len(), PARTS, "one turn for each part");
        for number in 1..=PARTS {
            assert_eq!(count(&snapshot, &part(number)), 1, "{}", part(number));
        }
        let cards = snapshot.page.calls.iter().filter_map(|call| match (&call.view, &call.state) {
            (Some(ToolView::SubAgent(card)), CallState::Ended { status, .. }) => Some((card, *status)),
            _ => None,
        });
        for (card, status) in cards {
            match card.status {
                SubAgentStatus::Interrupted => self.situations.interrupted += 1,
                SubAgentStatus::Done => {
                    self.situations.done += 1;
                    let summary = card.summary.as_deref().unwrap_or_default();
                    let came = summary.contains(&task::found(&card.task));
                    assert!(came || status == CallStatus::Interrupted, "{card:?}");
                    assert_eq!(task::lines(&self.home, &card.task), 1, "done, and done once: {card:?}");
                }
                _ => panic!("{card:?}"),
            }
            assert!(task::lines(&self.home, &card.task) <= 1, "done twice: {card:?}");
        }
        // The work of sub-agents belongs to the turn that started them: one step undoes all of it.
        for number in (1..=PARTS).rev() {
            assert!(task::files(&self.home).iter().any(|name| name.starts_with(&format!("p{number}-"))));
            core.call(Send { session: parent, blocks: text("/undo") }).expect("the task is taken back");
            let left = task::files(&self.home);
            assert!(!left.iter().any(|name| name.starts_with(&format!("p{number}-"))), "{number}: {left:?}");
        }
        assert_eq!(task::files(&self.home), Vec::<String>::new(), "as before everything");
        core.close(PATIENCE);
        self.check_stored(parent);
    }

    /// Checks that a sub-agent that was never reported is over too.
    fn check_stored(&self, parent: SessionId) {
        let store = Store::open(&self.home.octo()).expect("the store opens");
        let sub_agents = store.read_blocking(move |reader| {
            let sub_agents = reader.sub_agents(parent)?;
            sub_agents.into_iter().map(|id| Ok((id, reader.session(id)?))).collect::<Result<Vec<_>, _>>()
        });
        let sub_agents = sub_agents.expect("the sub-agents are read");
        for child in &self.children {
            assert!(
                sub_agents.iter().any(|(id, _)| id == child),
                "a sub-agent that was told of is gone: {child}"
            );
        }
        for (id, info) in sub_agents {
            let info = info.unwrap_or_else(|| panic!("no session {id}"));
            assert!(matches!(info.status, SessionStatus::Idle | SessionStatus::Failed), "{info:?}");
        }
        store.close();
    }
}

/// Checks that a card agrees with its call's result.
fn check_card(call: &CallView, status: CallStatus, card: SubAgentStatus) {
    let is_expected = match status {
        CallStatus::Done => card == SubAgentStatus::Done,
        // It may have finished just before its parent could take its result.
        CallStatus::Interrupted => matches!(card, SubAgentStatus::Interrupted | SubAgentStatus::Done),
        CallStatus::Failed | CallStatus::Denied | CallStatus::Stopped => false,
    };
    assert!(is_expected, "{call:?}");
}

/// The whole session as the process shows it.
fn open(core: &mut ServeProcess, session: SessionId) -> SessionSnapshot {
    let snapshot = core.call(OpenSession { session }).expect("the session opens");
    assert!(!snapshot.page.earlier, "more than one page");
    snapshot
}

fn text(content: &str) -> Vec<Block> {
    vec![Block::Text { text: content.to_owned() }]
}
