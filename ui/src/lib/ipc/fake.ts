/**
 * A replay of recorded updates as a transport, so that the page runs in a plain browser during development. The
 * recordings are the lines of `tests/fixtures/events/*.jsonl`; requests are answered from the replayed state. Not part
 * of a production build.
 */
import { browserScene, isBrowserScene } from "./fake-browser";
import { FakeCore } from "./fake-core";
import { longHistory, manySessions } from "./fake-bulk";
import type { Transport } from "./index";
import type { Event, Request, TaskRun, Topic, Update } from "./types";

const recordings = import.meta.glob<string>("../../../../tests/fixtures/events/*.jsonl", {
  query: "?raw",
  import: "default",
});

/** How long a replay waits between two updates, in milliseconds. */
const PACE = 35;

async function lines(name: string): Promise<Update[]> {
  const recording = Object.entries(recordings).find(([path]) => path.endsWith(`/${name}.jsonl`))?.[1];
  if (!recording) return [];
  const text = await recording();
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Update);
}

/** Returns the topic of an update, as text. */
function topicOf(update: Update): string | null {
  if (update.type === "event") return topicName(update.envelope.topic);
  if (update.type === "delta") return `session/${update.delta.session}`;
  if (update.type === "page") return update.page === null ? null : `session/${update.page.session}`;
  if (update.type === "trouble") return `session/${update.session}`;
  if (update.type !== "snapshot") return null;
  return update.snapshot.topic === "session" ? `session/${update.snapshot.info.id}` : update.snapshot.topic;
}

function topicName(topic: Topic): string {
  return topic.type === "session" ? `session/${topic.id}` : topic.type;
}

/** Adds a session missing from the recorded list at its top. */
function list(snapshot: Update | undefined, sessions: Update[]): void {
  const first = sessions[0];
  if (snapshot?.type !== "snapshot" || snapshot.snapshot.topic !== "session") return;
  if (first?.type !== "snapshot" || first.snapshot.topic !== "sessions") return;
  const { id } = snapshot.snapshot.info;
  if (first.snapshot.sessions.some((session) => session.id === id)) return;
  first.snapshot.sessions = [snapshot.snapshot.info, ...first.snapshot.sessions];
  first.snapshot.total += 1;
}

/** The actions of a script that drives the page. */
interface ScriptedStep {
  readonly events?: readonly { topic: Topic; event: Event }[];
  readonly updates?: readonly Update[];
  readonly request?: Request;
  /** A task run that ends, by the task's file. */
  readonly finished?: { readonly task: string; readonly run: Partial<TaskRun> };
}

/** Lets a script publish events and other updates, and send requests as another window, through window events. */
function followScript(core: FakeCore): void {
  addEventListener("fake", (happened) => {
    const { events, updates, request, finished } = (happened as CustomEvent<ScriptedStep>).detail;
    for (const { topic, event } of events ?? []) core.emit(topic, event);
    for (const update of updates ?? []) core.publish(topicOf(update) ?? "", update);
    if (request) void core.answer(request);
    if (finished) core.schedule.finish(finished.task, finished.run);
  });
}

/**
 * Returns the transport of a scene: `first-run`, `new`, `start-failed`, a browser scene, or the name of a recorded
 * session.
 */
export async function replay(scene: string): Promise<Transport & { readonly core: FakeCore }> {
  const query = new URLSearchParams(location.search);
  const first = scene === "first-run" || scene === "new";
  const [settings, sessions, sceneEvents] = await Promise.all([
    lines(scene === "first-run" ? "settings-empty" : "settings"),
    first ? Promise.resolve([]) : lines("sessions"),
    isBrowserScene(scene) ? browserScene(scene) : lines(scene),
  ]);
  list(sceneEvents[0], sessions);
  manySessions(sessions, Number(query.get("sessions") ?? 0));
  const history = longHistory(sceneEvents[0], Number(query.get("messages") ?? 0));
  const others = first
    ? []
    : (
        await Promise.all(
          ["main", "permission", "long", "trouble", "compacted", "budget", "background"]
            .filter((name) => name !== scene)
            .map(lines),
        )
      ).flat();
  const core = new FakeCore(scene, [...settings, ...sessions, ...sceneEvents, ...others], topicOf, history);
  followScript(core);
  // Opens the session of the fixture.
  const opened = sceneEvents.find((update) => update.type === "snapshot");
  localStorage.removeItem("octo.last-session");
  if (opened?.type === "snapshot" && opened.snapshot.topic === "session") {
    localStorage.setItem("octo.last-session", opened.snapshot.info.id);
  }
  return transport(core, query);
}

function transport(core: FakeCore, query: URLSearchParams): Transport & { readonly core: FakeCore } {
  const pace = query.has("fast") ? 0 : PACE;
  return {
    core,
    request(request) {
      // Lets a script observe every request, including those to the system.
      dispatchEvent(new CustomEvent("asked", { detail: request }));
      return core.answer(request);
    },
    subscribe(topic, onBatch) {
      const name = topicName(topic);
      const pending = core.begin(name);
      let cancelled = false;
      const deliver = (batch: Update[]): void => {
        if (!cancelled && batch.length > 0) onBatch(structuredClone(batch));
      };
      const stop = core.listen(name, deliver);
      const snapshot = pending[0];
      queueMicrotask(() => {
        if (snapshot) deliver([snapshot]);
        if (pace === 0) for (const update of pending.slice(1)) core.publish(name, update);
      });
      let next = 1;
      const timer = setInterval(
        () => {
          const update = pace === 0 ? undefined : pending[next++];
          if (update) core.publish(name, update);
          else clearInterval(timer);
        },
        Math.max(pace, 1),
      );
      return Promise.resolve(() => {
        cancelled = true;
        clearInterval(timer);
        stop();
      });
    },
    onFileDrop: () => () => undefined,
    blobUrl: (path) => core.pictures.get(path) ?? `/blobs/${path}`,
  };
}
