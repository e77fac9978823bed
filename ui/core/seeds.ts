/** What a page in a browser begins with: requests to the real core, files, and the scripted model's replies. */
import type { Seed } from "./bridge.ts";

/** An empty home: nothing is set up. */
export const emptyHome: Seed = () => Promise.resolve();

/** A home with a model and no session. */
export const readyHome: Seed = async (core) => {
  await core.addModel();
  const patch = { welcomed: true, suggestions: "off" as const };
  await core.request({ domain: "app", call: { type: "change_settings", patch } });
};

/** A session in Ask that waits for an answer about a change of a file; a question about a command follows. */
export const asking: Seed = async (core) => {
  await readyHome(core);
  core.write("config.toml", 'part_size = "64 MiB"\nretries = 5\n');
  const edit = { path: "config.toml", old_string: '"64 MiB"', new_string: '"8 MiB"' };
  const read = { path: "config.toml" };
  await core.replies(
    { parts: [{ text: LONG }, { call: { tool: "file_reader", arguments: read } }] },
    {
      parts: [
        { text: "I make the parts smaller and try the release." },
        { call: { tool: "edit", arguments: edit } },
        { call: { tool: "terminal", arguments: { command: "cargo publish --dry-run --allow-dirty" } } },
      ],
    },
  );
  const session = await core.startSession("Make the parts smaller and try the release", { mode: "ask" });
  await core.until({ type: "session", id: session.id }, (update) =>
    update.type === "snapshot" && update.snapshot.topic === "session"
      ? update.snapshot.questions.length > 0
      : update.type === "event" && update.envelope.event.type === "question_asked",
  );
};

/** Text higher than a small window. */
const LONG = Array.from({ length: 12 }, (_, n) => `Part ${n + 1} of the plan.`).join("\n\n");

/** The seeds that `?seed=` names in the development server. */
export const seeds = { "first-run": emptyHome, new: readyHome, permission: asking } satisfies Record<string, Seed>;
