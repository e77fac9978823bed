/** The time machine of a replay: a tree of steps that can be browsed, compared and restored. */
import { path as wayTo } from "$lib/state/timeline";
import type {
  ApiError,
  ChangedPath,
  DiffView,
  FileComparison,
  LastingEffect,
  RestorePreview,
  RestoreReport,
  StepChange,
  StepChanges,
  StepKind,
  StepTree,
  StepView,
  TimeRequest,
  TimeSpace,
  UnsavedReason,
} from "./types";

const FOLDER = "/home/mei/code/harbor";
const MINUTE = 60_000;
/** When the session's first step started: 12:14 on the day of the recordings. */
const BEGAN = Date.UTC(2026, 10, 21, 12, 14);

const changed = (
  path: string,
  change: StepChange,
  added: number | null = null,
  removed: number | null = null,
  unsaved: UnsavedReason | null = null,
): ChangedPath => ({
  path: path.startsWith("/") ? path : `${FOLDER}/${path}`,
  change,
  folder: false,
  added,
  removed,
  unsaved,
});

const lastingEffect = (kind: LastingEffect["kind"], what: string, times: number): LastingEffect => ({
  kind,
  what,
  times,
  call: "01a00000-0000-7000-8000-000000000001",
  at: BEGAN + 52 * MINUTE,
});

interface SampleStep {
  readonly parent: number | null;
  readonly kind: StepKind;
  readonly summary: string;
  readonly minute: number;
  readonly changes: readonly ChangedPath[];
  readonly lasting?: readonly LastingEffect[];
}

const history: readonly SampleStep[] = [
  { parent: null, kind: "start", summary: "", minute: 0, changes: [] },
  { parent: 0, kind: "run", summary: "Look around and say how uploads work", minute: 0, changes: [] },
  {
    parent: 1,
    kind: "run",
    summary: "Give each upload an id that survives a restart",
    minute: 6,
    changes: [
      changed("src/upload/id.rs", "created", 14, 0),
      changed("src/upload/mod.rs", "edited", 5, 2),
      changed("tests/upload.rs", "edited", 0, 9),
    ],
  },
  {
    parent: 2,
    kind: "run",
    summary: "Keep a journal of confirmed parts",
    minute: 17,
    changes: [changed("src/upload/journal.rs", "created", 61, 0)],
  },
  { parent: 3, kind: "checkpoint", summary: "before storage", minute: 28, changes: [] },
  {
    parent: 4,
    kind: "run",
    summary: "Store the parts in SQLite",
    minute: 30,
    changes: [
      changed("data/parts.db", "created"),
      changed("data/recording.raw", "edited", null, null, "too_large"),
      changed("scripts/reset.sh", "mode"),
      changed("src/upload/journal.rs", "deleted", 0, 61),
      changed("src/upload/schema.sql", "created", 38, 0),
      changed("src/upload/store.rs", "edited", 74, 12),
      changed("tests/upload.rs", "edited", 0, 44),
    ],
  },
  { parent: 5, kind: "safety", summary: "", minute: 38, changes: [changed("README.md", "edited", 3, 1)] },
  {
    parent: 4,
    kind: "run",
    summary: "Keep confirmed ETags and skip those parts",
    minute: 44,
    changes: [changed("src/upload/journal.rs", "edited", 17, 3), changed("src/upload/store.rs", "edited", 6, 6)],
  },
  {
    parent: 7,
    kind: "run",
    summary: "A test that cuts the connection half-way",
    minute: 51,
    changes: [changed("tests/resume.rs", "created", 44, 0)],
    lasting: [
      lastingEffect("pushed", "git push origin resume", 1),
      lastingEffect("acted", "https://ci.harbor.example", 3),
      lastingEffect("visited", "https://ci.harbor.example", 1),
    ],
  },
  {
    parent: 8,
    kind: "run",
    summary: "Ask the server before sending a part again",
    minute: 55,
    changes: [changed("src/upload/client.rs", "edited", 27, 4), changed("src/upload/store.rs", "edited", 4, 0)],
  },
];

interface Session {
  sampleSteps: SampleStep[];
  active: number;
  /** The conversation's step. */
  conversation: number;
}

type Line = DiffView["hunks"][number]["lines"][number];
const line = (old: number | null, now: number | null, ...parts: (string | { mark: string })[]): Line => ({
  old,
  new: now,
  parts: parts.map((part) =>
    typeof part === "string" ? { text: part, emphasis: false } : { text: part.mark, emphasis: true },
  ),
});
const same = (old: number, now: number, text: string): Line => line(old, now, text);

const storeHunks: DiffView["hunks"] = [
  {
    lines: [
      same(12, 12, "pub struct PartStore {"),
      line(13, null, "    ", { mark: "journal: Journal" }, ","),
      line(null, 13, "    ", { mark: "db: Connection" }, ","),
      same(14, 14, "    limit: usize,"),
      same(15, 15, "}"),
      same(16, 16, ""),
      same(17, 17, "impl PartStore {"),
      same(18, 18, "    pub fn open(dir: &Path) -> Result<Self> {"),
      line(19, null, "        let journal = Journal::open(dir)?;"),
      line(20, null, "        Ok(Self { ", { mark: "journal" }, ", limit: 64 })"),
      line(null, 19, '        let db = Connection::open(dir.join("parts.db"))?;'),
      line(null, 20, '        db.execute_batch(include_str!("schema.sql"))?;'),
      line(null, 21, ""),
      line(null, 22, "        Ok(Self { ", { mark: "db" }, ", limit: 64 })"),
      same(21, 23, "    }"),
      same(22, 24, ""),
      same(23, 25, "    pub fn confirm(&self, n: u32, tag: &ETag) {"),
      line(24, null, "        self.journal.append(n, tag);"),
      line(null, 26, '        let sql = "insert into part values (?1, ?2)";'),
      line(null, 27, "        self.db.execute(sql, (n, tag.as_str()))?;"),
      same(25, 28, "    }"),
    ],
  },
  {
    lines: [
      same(74, 77, "    fn drop(&mut self) {"),
      line(75, null, "        self.journal.sync().ok();"),
      line(null, 78, "        self.db.cache_flush().ok();"),
      same(76, 79, "    }"),
    ],
  },
];

const whole = (kind: "added" | "removed"): DiffView["hunks"] => [
  {
    lines: [
      "create table part (",
      "  upload text not null,",
      "  n      integer not null,",
      "  etag   text not null,",
      "  primary key (upload, n)",
      ") strict;",
    ].map((text, index) => (kind === "added" ? line(null, index + 1, text) : line(index + 1, null, text))),
  },
];

const file = (len: number, text = true) => ({ type: "file", len, mode: 0o644, text }) as const;

function comparison(path: string, change: StepChange | undefined): FileComparison {
  const diff = (hunks: DiffView["hunks"]): DiffView => ({
    path,
    change: change === "created" ? "created" : "edited",
    added: hunks.flatMap((hunk) => hunk.lines).filter((line) => line.old === null).length,
    removed: hunks.flatMap((hunk) => hunk.lines).filter((line) => line.new === null).length,
    hunks,
    truncated: false,
  });
  if (path.endsWith(".db")) return { old: { type: "absent" }, new: file(24_576, false), diff: null };
  if (path.endsWith(".raw"))
    return { old: { type: "unsaved", why: "too_large" }, new: file(734_003_200, false), diff: null };
  if (change === "mode") return { old: file(812), new: { ...file(812), mode: 0o755 }, diff: diff([]) };
  if (change === "created") return { old: { type: "absent" }, new: file(1_240), diff: diff(whole("added")) };
  if (change === "deleted") return { old: file(1_240), new: { type: "absent" }, diff: diff(whole("removed")) };
  return { old: file(3_102), new: file(3_690), diff: diff(storeHunks) };
}

/** The steps of every session of a replay. */
export class FakeTime {
  readonly #sessions = new Map<string, Session>();
  #space: TimeSpace;

  constructor(budgetState: "within" | "beyond") {
    this.#space = {
      bytes: budgetState === "within" ? 3_640_000_000 : 4_720_000_000,
      blobs: 41_820,
      budget: 4_000_000_000,
    };
  }

  /** Answers a request; `turns` are the session's, empty before its first turn. */
  answer(call: TimeRequest, turns: readonly { readonly id: string; readonly ended_at: number | null }[]): unknown {
    if (call.type === "get_time_space") return this.#space;
    if (call.type === "collect_time") {
      const exceedsBudget = this.#space.bytes > call.budget;
      const bytesAfter = exceedsBudget ? call.budget : 2_900_000_000;
      const freed = this.#space.bytes - bytesAfter;
      this.#space = { ...this.#space, bytes: bytesAfter, blobs: 33_104 };
      return {
        freed_bytes: freed,
        freed_blobs: 8_716,
        kept_bytes: bytesAfter,
        forgotten_tasks: exceedsBudget ? 12 : 0,
      };
    }
    const session = this.#open(call.session, turns.length > 0);
    switch (call.type) {
      case "get_task_tree":
        return this.#tree(session, turns);
      case "get_task_changes":
        return this.#changes(session, call.task);
      case "compare_file":
        return comparison(
          call.path,
          call.with === "present"
            ? "edited"
            : session.sampleSteps[call.task]?.changes.find(({ path }) => path === call.path)?.change,
        );
      case "preview_restore":
        return this.#preview(session, call.task, call.selection.type === "chosen" ? call.selection.paths : null);
      case "restore_task": {
        const { selection } = call;
        const preview = this.#preview(session, call.task, selection.type === "chosen" ? selection.paths : null);
        return this.#restore(session, preview, call);
      }
      case "add_checkpoint": {
        session.sampleSteps.push({
          parent: session.active,
          kind: "checkpoint",
          summary: call.name,
          minute: 108,
          changes: [],
        });
        session.active = session.conversation = session.sampleSteps.length - 1;
        return this.#tree(session, turns).tasks.at(-1);
      }
      default:
        return call satisfies never;
    }
  }

  #open(id: string, used: boolean): Session {
    const index = used ? history.length - 1 : 0;
    const session = this.#sessions.get(id) ?? {
      sampleSteps: used ? [...history] : [],
      active: index,
      conversation: index,
    };
    this.#sessions.set(id, session);
    return session;
  }

  #tree(
    { sampleSteps, active, conversation }: Session,
    turns: readonly { readonly id: string; readonly ended_at: number | null }[],
  ): StepTree {
    const bare = sampleSteps.map((task, number): StepView => ({
      number,
      parent: task.parent,
      kind: task.kind,
      turn: number === active ? (turns.at(-1)?.id ?? null) : null,
      summary: task.summary,
      status: number === active ? "current" : "undone",
      branch: sampleSteps.filter((other) => other.parent === task.parent).length > 1,
      started_at: BEGAN + task.minute * MINUTE,
      ended_at: number === active && turns.at(-1)?.ended_at === null ? null : BEGAN + (task.minute + 3) * MINUTE,
      changed: task.changes.length,
      lasting: task.lasting?.length ?? 0,
      said_after: null,
    }));
    const path = new Set(
      wayTo({ tasks: bare, active, conversation: active, undo: null, redo: null }, active).map((task) => task.number),
    );
    const tasks = bare.map((task): StepView =>
      task.status === "undone" && path.has(task.number) ? { ...task, status: "past" } : task,
    );
    const redo = tasks.findLast((task) => task.parent === active && task.kind === "run");
    return { tasks, active, conversation, undo: sampleSteps[active]?.parent ?? null, redo: redo?.number ?? null };
  }

  #changes({ sampleSteps }: Session, task: number): StepChanges {
    return {
      paths: [...(sampleSteps[task]?.changes ?? [])],
      left_out: [
        { path: `${FOLDER}/data/recording.raw`, why: "too_large" },
        { path: `${FOLDER}/node_modules`, why: "dependencies" },
        { path: `${FOLDER}/target`, why: "build_output" },
      ],
      left_out_total: 3,
      lasting: { marks: [...(sampleSteps[task]?.lasting ?? [])], more: 0 },
    };
  }

  #preview(
    { sampleSteps, active, conversation }: Session,
    to: number,
    onlyPaths: readonly string[] | null,
  ): RestorePreview {
    const tree: StepTree = this.#tree({ sampleSteps, active, conversation }, []);
    const from = wayTo(tree, active);
    const towards = wayTo(tree, to);
    const shared = new Set(from.filter((task) => towards.includes(task)).map((task) => task.number));
    const opposite: Record<StepChange, StepChange> = {
      created: "deleted",
      deleted: "created",
      edited: "edited",
      mode: "mode",
      replaced: "replaced",
    };
    const changedPaths = new Map<string, ChangedPath>();
    for (const { number } of from.filter((task) => !shared.has(task.number))) {
      for (const change of sampleSteps[number]?.changes ?? []) {
        changedPaths.set(change.path, {
          ...change,
          change: opposite[change.change],
          added: change.removed,
          removed: change.added,
        });
      }
    }
    for (const { number } of towards.filter((task) => !shared.has(task.number)).toReversed()) {
      for (const change of sampleSteps[number]?.changes ?? []) changedPaths.set(change.path, change);
    }
    const between = [...from, ...towards].filter((task) => onlyPaths === null && !shared.has(task.number));
    const all = [...changedPaths.values()]
      .filter(({ path }) => onlyPaths === null || onlyPaths.includes(path))
      .toSorted((a, b) => a.path.localeCompare(b.path));
    const unrestorable = all.filter(({ unsaved }) => unsaved !== null);
    const edited = all.filter(({ path }) => path.endsWith("store.rs"));
    const others = onlyPaths === null && active !== to ? [`${FOLDER}/README.md`] : [];
    return {
      from: active,
      to,
      changes: all.filter((change) => !unrestorable.includes(change) && !edited.includes(change)),
      conflicts: [
        ...others.map((path) => ({ path, change: "edited" as const, source: "others_only" as const })),
        ...edited.map(({ path, change }) => ({ path, change, source: "both" as const })),
      ],
      impossible: unrestorable.map(({ path }) => ({ path, why: { type: "not_kept", why: "too_large" } })),
      lasting: { marks: between.flatMap(({ number }) => sampleSteps[number]?.lasting ?? []), more: 0 },
    };
  }

  #restore(
    session: Session,
    preview: RestorePreview,
    call: Extract<TimeRequest, { type: "restore_task" }>,
  ): RestoreReport {
    const files = call.scope !== "conversation";
    const restored = files
      ? preview.conflicts.map(({ path }) => path).filter((path) => !call.overwrite.includes(path))
      : [];
    const done = files ? preview.changes.length + call.overwrite.length : 0;
    let safety: number | null = null;
    if (done > 0) {
      session.sampleSteps.push({ parent: session.active, kind: "safety", summary: "", minute: 108, changes: [] });
      safety = session.sampleSteps.length - 1;
    }
    if (call.selection.type === "all" && call.scope !== "files") {
      if (files) session.active = call.task;
      session.conversation = call.task;
    } else if (done > 0) {
      const changes = preview.changes;
      session.sampleSteps.push({ parent: session.active, kind: "files", summary: "", minute: 108, changes });
      session.active = session.sampleSteps.length - 1;
    }
    return {
      active: session.active,
      safety,
      changed: done,
      kept: restored,
      impossible: files ? preview.impossible : [],
    };
  }
}

/** The error of a replay whose time machine cannot be read. */
export const timeFailure: ApiError = { key: "store.busy", args: {}, retryable: true };
