/** The settings of a replay: defaults, recorded values, and changes. */
import { LATER } from "./fake-onboarding";
import { failure } from "./fake-parts";
import type { AppRequest, Settings, SettingsSnapshot, Update } from "./types";

const LIBRARY = { other_agents: "on", propose: "on", remember: "on" } as const;
const TRASH = { days: 30, bytes: 5 * 1024 ** 3 };

/** Returns the default settings. */
function firstSettings(): SettingsSnapshot {
  return {
    settings: {
      language: "system",
      theme: "system",
      default_model: null,
      light_model: null,
      proxy: { type: "system" },
      certificates: null,
      site_secrets: [],
      chats: { telegram: null },
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

/** The app requests that concern settings. */
type SettingsRequest = Extract<
  AppRequest,
  {
    type:
      | "get_settings"
      | "change_settings"
      | "trust_certificates"
      | "save_search_provider"
      | "remove_search_provider"
      | "order_search_providers";
  }
>;

/** The settings. `?lang` and `?theme` choose those; `?no-keychain` simulates a system without a keychain. */
export class FakeSettings {
  #snapshot: SettingsSnapshot;

  constructor(
    recorded: Update | undefined,
    private readonly changed: (snapshot: SettingsSnapshot) => void,
  ) {
    const first = firstSettings();
    const settings =
      recorded?.type === "snapshot" && recorded.snapshot.topic === "settings" ? recorded.snapshot.snapshot : first;
    const chosen = new URLSearchParams(location.search);
    const language = chosen.get("lang");
    const theme = chosen.get("theme");
    this.#snapshot = {
      ...settings,
      settings: {
        // The recordings predate some settings.
        ...first.settings,
        ...settings.settings,
        ...(language === "en" || language === "zh" ? { language } : {}),
        ...(theme === "light" || theme === "dark" ? { theme } : {}),
      },
      ...(chosen.has("no-keychain") ? { keychain: "unavailable" as const } : {}),
    };
  }

  get snapshot(): SettingsSnapshot {
    return this.#snapshot;
  }

  get settings(): Settings {
    return this.#snapshot.settings;
  }

  get models(): SettingsSnapshot["models"] {
    return this.#snapshot.models;
  }

  set(change: Partial<SettingsSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    this.changed(this.#snapshot);
  }

  change(patch: Partial<Settings>): void {
    this.set({ settings: { ...this.settings, ...patch } });
  }

  answer(call: SettingsRequest): SettingsSnapshot {
    const { search } = this.settings;
    switch (call.type) {
      case "get_settings":
        break;
      case "change_settings":
        this.change(call.patch);
        break;
      case "trust_certificates": {
        const { source } = call;
        if (source.type === "text" && !source.pem.includes("-----END CERTIFICATE-----"))
          throw failure("certificates.none");
        const file = source.type === "file" ? source.path : null;
        this.change({ certificates: source.type === "nothing" ? null : { pem: "", count: 1, file } });
        break;
      }
      case "save_search_provider": {
        const { kind, key, address } = call.draft;
        const saved = key === null ? { type: "missing" as const } : { type: "stored" as const, last4: key.slice(-4) };
        const others = search.filter((provider) => provider.kind !== kind);
        this.change({ search: [...others, { kind, key: saved, address }] });
        break;
      }
      case "remove_search_provider":
        this.change({ search: search.filter((provider) => provider.kind !== call.kind) });
        break;
      case "order_search_providers":
        this.change({ search: call.order.flatMap((kind) => search.filter((provider) => provider.kind === kind)) });
        break;
      default:
        return call satisfies never;
    }
    return this.#snapshot;
  }
}
