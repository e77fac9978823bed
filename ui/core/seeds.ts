/** What a page in a browser begins with: requests to the real core, files, and the scripted model's replies. */
import type { Seed } from "./bridge.ts";

/** A new home: nothing is set up. */
const firstRun: Seed = () => Promise.resolve();

/** A home with a model and no session. */
const set: Seed = async (core) => {
  await core.addModel();
  await core.request({ domain: "app", call: { type: "change_settings", patch: { welcomed: true } } });
};

export const seeds = { "first-run": firstRun, new: set } satisfies Record<string, Seed>;
