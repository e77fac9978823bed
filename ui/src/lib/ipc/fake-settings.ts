/** The settings of a replay in which nobody chose any. */
import { LATER } from "./fake-onboarding";
import type { SettingsSnapshot } from "./types";

const LIBRARY = { other_agents: "on", propose: "on", remember: "on" } as const;
const TRASH = { days: 30, bytes: 5 * 1024 ** 3 };

/** Settings as Octo comes. */
export function firstSettings(): SettingsSnapshot {
  return {
    settings: {
      language: "system",
      theme: "system",
      default_model: null,
      light_model: null,
      proxy: { type: "system" },
      certificates: null,
      site_secrets: [],
      default_mode: "ask_risky",
      default_profile: "general",
      compact_at: { type: "usual" },
      keep_warm: "on",
      suggestions: "on",
      confinement: "on",
      trash: TRASH,
      budgets: { session: null, day: null, task: null },
      recent_folders: [],
      search: ["duck_duck_go" as const, "bing" as const].map((kind) => ({
        kind,
        key: { type: "missing" as const },
        address: null,
      })),
      browser: { type: "automatic" },
      sub_agents: 3,
      live_turns: 4,
      library: LIBRARY,
      welcomed: false,
      ...LATER,
    },
    models: [],
    keychain: "available",
  };
}
