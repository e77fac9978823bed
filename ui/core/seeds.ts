/** What a page in a browser begins with: requests to the real core, files, and the scripted model's replies. */
import type { PageCore, Seed } from "./bridge.ts";

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

/** A session whose model stopped in the middle of a sentence until the gate `on` opens. */
export const working: Seed = async (core) => {
  await readyHome(core);
  await core.replies({
    parts: [{ text: PARTIAL + "It is the one before the last. ".repeat(3) }],
    chunks: 2,
    holds: [[1, "on"]],
  });
  const { id } = await core.startSession("Resume uploads after a dropped connection");
  let text = "";
  await core.until({ type: "session", id }, (update) => {
    if (update.type === "snapshot" && update.snapshot.topic === "session")
      text = update.snapshot.streaming.map((block) => block.text).join("");
    if (update.type === "delta") text += update.delta.text;
    return text.startsWith(PARTIAL);
  });
};

const PARTIAL = "The upload resumes where it stopped. One part is still doubled. ";

/** A finished session. */
export const finished: Seed = async (core) => {
  await readyHome(core);
  await talk(core, "Join two CSV exports on order id", "They are joined in orders.csv.");
};

/** Three finished sessions and a second model. */
export const several: Seed = async (core) => {
  await readyHome(core);
  await core.addModel("qwen3-30b");
  await talk(core, "Rename photos by the day they were taken", "All 212 are renamed.");
  await talk(core, "Resume uploads after a dropped connection", "The upload resumes where it stopped.");
  await talk(core, "Reply to the landlord", "The letter is in reply.md.");
};

async function talk(core: PageCore, text: string, answer: string): Promise<void> {
  await core.replies({ parts: [{ text: answer }] });
  await core.untilIdle((await core.startSession(text)).id);
}

/** Text higher than a small window. */
const LONG = Array.from({ length: 12 }, (_, n) => `Part ${n + 1} of the plan.`).join("\n\n");

/** The seeds that `?seed=` names in the development server. */
export const seeds = {
  "first-run": emptyHome,
  new: readyHome,
  permission: asking,
  working,
  finished,
  several,
} satisfies Record<string, Seed>;
