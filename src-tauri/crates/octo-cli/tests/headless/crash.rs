//! The crash campaign: `kill -9` of `octo-cli serve` at random moments of a job of ten turns with tools,
//! questions and queued messages. After each kill the next start must have everything ever reported exactly
//! once, and the job must finish.
//!
//! Seeded, with the length given by [`crate::campaign`].

pub mod known;
mod task;

use crate::{
    campaign::{CampaignExtent, Random, kill},
    support::{PATIENCE, connect, serve},
};
use known::{ClientReport, CrashSituations};
use octo_protocol::{
    Answer, AnswerQuestion, Block, Envelope, Event, ListSessions, Mode, ModelId, OpenSession, Profile,
    Question, QuestionContent, QuestionId, Send, SessionId, SessionSnapshot, SessionStatus, StartSession,
    StoredTopic, TurnEnd, TypedRequest,
};
use octo_testkit::{ModelServer, Script, ServeProcess, TempHome};
use std::{collections::HashSet, time::Duration};
use task::{NOTE, PARTS, part};

/// Number of kills per job before a new job starts, so that all of its parts are hit.
const KILLS_PER_TASK: usize = 10;

#[test]
fn nothing_is_lost_or_doubled_by_kill_9() {
    let mut situations = CrashSituations::default();
    let extent = kill(20_261_121, KILLS_PER_TASK, |seed, kills| {
        let mut campaign = Campaign::begin(seed, kills);
        campaign.run();
        situations.waiting += campaign.known.situations.waiting;
        situations.interrupted += campaign.known.situations.interrupted;
        situations.cut += campaign.known.situations.cut;
        situations.queued += campaign.known.situations.queued;
        campaign.killed
    });
    println!("{situations:?}");
    let everything = situations.waiting > 0 && situations.interrupted > 0 && situations.cut > 0;
    assert!(
        everything || extent == CampaignExtent::Part,
        "a full campaign comes upon everything: {situations:?}"
    );
}

/// One job, started in a fresh home and driven to its end through kills.
struct Campaign {
    home: TempHome,
    server: ModelServer,
    random: Random,
    /// Number of kills left, and number made.
    kills: usize,
    killed: usize,
    /// Everything reported by the processes so far.
    known: ClientReport,
    session: Option<SessionId>,
    model: Option<ModelId>,
}

/// How a process ended.
enum ProcessLife {
    /// The campaign killed it.
    Killed,
    /// The job is done.
    Done,
}

/// A running process that will be killed after this many more events and driver actions.
struct Victim {
    core: ServeProcess,
    fuse: usize,
    /// Events already looked at.
    place: usize,
    /// Questions answered by this process.
    answered: HashSet<QuestionId>,
}

impl Campaign {
    fn begin(seed: u64, kill_count: usize) -> Self {
        Self {
            home: TempHome::new(),
            server: ModelServer::start(Script::from_fn(task::answer)),
            random: Random::new(seed),
            kills: kill_count,
            killed: 0,
            known: ClientReport::default(),
            session: None,
            model: None,
        }
    }

    fn run(&mut self) {
        loop {
            let more = self.killed < self.kills;
            let fuse = if more { usize::try_from(self.random.below(1, 90)).unwrap() } else { usize::MAX };
            let process = Victim { core: serve(&self.home), fuse, place: 0, answered: HashSet::new() };
            match self.run_process(process) {
                ProcessLife::Killed => self.killed += 1,
                ProcessLife::Done => break,
            }
        }
        self.server.assert_clean();
    }

    /// Runs one process until it is killed or the job is done.
    fn run_process(&mut self, mut process: Victim) -> ProcessLife {
        if self.model.is_none() {
            self.model = Some(connect(&mut process.core, &self.server).id);
        }
        let Some(session) = self.find_session(&mut process) else { return self.end(process) };
        let snapshot = self.open(&mut process, session);
        // Everything reported before must appear in the next process's snapshot.
        self.known.check(&snapshot);
        self.known.begin(&snapshot);
        for question in &snapshot.questions {
            if !self.answer(&mut process, question) {
                return self.end(process);
            }
        }
        loop {
            let snapshot = self.open(&mut process, session);
            if let Some(life) = self.advance(&mut process, &snapshot) {
                return match life {
                    ProcessLife::Killed => self.end(process),
                    ProcessLife::Done => {
                        self.finish(&mut process);
                        ProcessLife::Done
                    }
                };
            }
            if !self.follow(&mut process, session) {
                return self.end(process);
            }
        }
    }

    /// Returns the session, starting it if necessary; `None` if the process is to die right after the request.
    fn find_session(&mut self, process: &mut Victim) -> Option<SessionId> {
        if self.session.is_none() {
            let listed = process
                .core
                .call(ListSessions { query: String::new(), filter: Default::default(), offset: 0, limit: 10 })
                .unwrap();
            assert!(listed.sessions.len() <= 1, "one request started several sessions: {listed:?}");
            self.session = listed.sessions.first().map(|info| info.id);
        }
        if let Some(session) = self.session {
            return Some(session);
        }
        let start = StartSession {
            folder: self.home.work().to_str().unwrap().to_owned(),
            profile: Profile::GENERAL,
            mode: Mode::Ask,
            model: self.model,
            effort: None,
            title: None,
            blocks: text(&part(1)),
        };
        let started = act(process, start)?;
        self.session = Some(started.id);
        self.session
    }

    /// The whole session as the process shows it.
    fn open(&self, process: &mut Victim, session: SessionId) -> SessionSnapshot {
        let mut snapshot = process.core.call(OpenSession { session }).expect("the session opens");
        while snapshot.page.earlier {
            let before = snapshot.page.messages.first().expect("a page before this one").id;
            let call = octo_protocol::Messages { session, before, limit: 500 };
            let earlier = process.core.call(call).expect("an earlier page");
            assert!(!earlier.messages.is_empty(), "there was said to be an earlier page");
            let late = std::mem::replace(&mut snapshot.page, earlier);
            snapshot.page.messages.extend(late.messages);
            for turn in late.turns {
                if snapshot.page.turns.iter().all(|entry| entry.id != turn.id) {
                    snapshot.page.turns.push(turn);
                }
            }
            snapshot.page.calls.extend(late.calls);
        }
        snapshot
    }

    /// Starts the next part once the session is idle; `Some` ends this process's life.
    fn advance(&mut self, process: &mut Victim, snapshot: &SessionSnapshot) -> Option<ProcessLife> {
        match snapshot.info.status {
            SessionStatus::Running | SessionStatus::Waiting => return None,
            // The turn's own end says more, below.
            SessionStatus::Failed | SessionStatus::Idle => {}
        }
        for turn in &snapshot.page.turns {
            assert_eq!(turn.end, Some(TurnEnd::Finished), "{:#?}", self.server.faults());
        }
        let begun = (1..=PARTS).take_while(|&number| known::count(snapshot, &part(number)) > 0).count();
        if begun == PARTS {
            return Some(ProcessLife::Done);
        }
        let call = Send { session: snapshot.info.id, blocks: text(&part(begun + 1)) };
        match act(process, call) {
            None => Some(ProcessLife::Killed),
            Some(_) => None,
        }
    }

    /// Follows events and answers questions until the turn ends; returns false if the fuse ran out.
    fn follow(&mut self, process: &mut Victim, session: SessionId) -> bool {
        loop {
            let (place, envelope) = process.core.wait_after(process.place, PATIENCE, |_| true);
            process.place = place;
            if envelope.topic != (StoredTopic::Session { id: session }) {
                continue;
            }
            if process.burn() {
                return false;
            }
            match &envelope.event {
                Event::QuestionAsked { question } if !self.answer(process, question) => return false,
                Event::SessionChanged { info } if info.status == SessionStatus::Idle => return true,
                Event::TurnEnded { turn } => {
                    assert_eq!(turn.end, Some(TurnEnd::Finished), "{:#?}", self.server.faults());
                }
                _ => {}
            }
        }
    }

    /// Answers a question; returns false if the process is to die right after it.
    fn answer(&mut self, process: &mut Victim, question: &Question) -> bool {
        let session = self.session.expect("a session");
        if !process.answered.insert(question.id) {
            return true;
        }
        let (number, answer) = match &question.ask {
            QuestionContent::Feedback { question, .. } => {
                (task::part_of(question), Answer::Text { text: "blue".to_owned() })
            }
            QuestionContent::Permission { preview, .. } => {
                let shown = serde_json::to_string(preview).unwrap();
                (task::part_of(&shown), task::permission(&question.tool, &shown))
            }
        };
        // While a permission is pending the model is not called, so a message sent now is certainly queued.
        if let (true, QuestionContent::Permission { .. }) = (task::has_note(number), &question.ask) {
            let note = format!("{NOTE} {number}");
            let snapshot = self.open(process, session);
            if known::count(&snapshot, &note) == 0
                && act(process, Send { session, blocks: text(&note) }).is_none()
            {
                return false;
            }
        }
        self.known.answered(question.id);
        act(process, AnswerQuestion { session, question: question.id, answer }).is_some()
    }

    /// Kills the process at a random moment, and records everything it had reported.
    fn end(&mut self, process: Victim) -> ProcessLife {
        std::thread::sleep(Duration::from_micros(self.random.below(0, 40_000)));
        let exit = process.core.kill();
        self.take(&exit.events);
        ProcessLife::Killed
    }

    fn take(&mut self, events: &[Envelope]) {
        let Some(session) = self.session.or_else(|| started_in(events)) else { return };
        self.known
            .take(events.iter().filter(|envelope| envelope.topic == (StoredTopic::Session { id: session })));
    }

    /// Checks a finished job: everything is present exactly once, with its effects.
    fn finish(&mut self, process: &mut Victim) {
        let session = self.session.expect("a session");
        self.take(&process.core.events());
        let snapshot = self.open(process, session);
        self.known.check(&snapshot);
        assert!(snapshot.questions.is_empty() && snapshot.queue.is_empty() && snapshot.streaming.is_empty());
        assert_eq!(snapshot.page.turns.len(), PARTS, "one turn for each part");
        for number in 1..=PARTS {
            assert_eq!(known::count(&snapshot, &part(number)), 1, "{}", part(number));
            let note = format!("{NOTE} {number}");
            assert_eq!(known::count(&snapshot, &note), usize::from(task::has_note(number)), "{note}");
            task::check_effects(&self.home, number, &snapshot);
        }
    }
}

impl Victim {
    /// Counts one more action; returns true if it was the last one.
    fn burn(&mut self) -> bool {
        self.fuse = self.fuse.saturating_sub(1);
        self.fuse == 0
    }
}

/// Sends a request; returns `None` if the process is to be killed before its reply is read.
fn act<C: TypedRequest>(process: &mut Victim, call: C) -> Option<C::Reply> {
    if process.burn() {
        process.core.send(&call.into());
        return None;
    }
    Some(process.core.call(call).expect("the request is carried out"))
}

fn text(content: &str) -> Vec<Block> {
    vec![Block::Text { text: content.to_owned() }]
}

fn started_in(events: &[Envelope]) -> Option<SessionId> {
    events.iter().find_map(|envelope| match envelope.topic {
        StoredTopic::Session { id } => Some(id),
        StoredTopic::Sessions | StoredTopic::Settings | StoredTopic::Trash => None,
    })
}
