/** Settings, models and information about this Octo, kept current. */
import { call, asApiError } from "$lib/ipc";
import type {
  ChatState,
  ModelEntry,
  PolicyState,
  ProfileInfo,
  SearchProviderDraft,
  SearchProviderKind,
  SettingsPatch,
  SettingsSnapshot,
} from "$lib/ipc/types";
import { apply, type SettingsState } from "$lib/state/settings";
import { type LanguageCode, matchLanguage } from "$lib/words/languages";
import { setLanguage } from "$lib/words/words.svelte";
import { applyAppearance } from "./appearance";
import { chooseKeys } from "./chosen-keys.svelte";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

class Preferences {
  #state = $state.raw<Pick<SettingsState, "seq" | "snapshot"> | null>(null);
  /** The person's own rules; null until loaded. */
  policy = $state.raw<PolicyState | null>(null);
  /** The chat services; null until loaded. */
  chats = $state.raw<ChatState | null>(null);
  userHome = $state("");
  version = $state("");
  home = $state("");
  systemLanguage = $state<LanguageCode>("en");
  /** The profiles available to sessions. */
  profiles = $state.raw<readonly ProfileInfo[]>([]);
  #following: Following<SettingsState> | undefined;

  /** Loads everything once and follows changes; rejects if the core could not start. */
  async begin(): Promise<void> {
    const [snapshot, about] = await Promise.all([call("app", "get_settings", {}), call("app", "get_about", {})]);
    void this.readProfiles();
    this.userHome = about.user_home;
    this.version = about.version;
    this.home = about.home;
    this.systemLanguage = matchLanguage(about.system_language);
    await this.#set({ seq: 0, snapshot });
    this.#following?.stop();
    this.#following = follow<SettingsState>({ type: "settings" }, apply, {
      state: (state) => {
        this.policy = state.policy ?? this.policy;
        this.chats = state.chats ?? this.chats;
        void this.#set(state);
      },
      ended: () => undefined,
      fault: (error) => {
        toasts.fail(error);
        return "again";
      },
    });
  }

  /** Reloads the profiles: the person may have written one. */
  async readProfiles(): Promise<void> {
    try {
      this.profiles = (await call("app", "list_profiles", {})).profiles;
    } catch (error) {
      toasts.fail(asApiError(error));
    }
  }

  /** Resolves once the words of its language are loaded. */
  #set(state: Pick<SettingsState, "seq" | "snapshot">): Promise<void> {
    this.#state = state;
    const { language, shortcuts } = state.snapshot.settings;
    chooseKeys(shortcuts);
    applyAppearance(state.snapshot.settings);
    return setLanguage(language === "system" ? this.systemLanguage : language);
  }

  get settings() {
    return this.#state?.snapshot.settings ?? null;
  }

  get models(): readonly ModelEntry[] {
    return this.#state?.snapshot.models ?? [];
  }

  get keychain() {
    return this.#state?.snapshot.keychain ?? "available";
  }

  /** The default model of new sessions. */
  get defaultModel(): ModelEntry | null {
    const chosen = this.settings?.default_model;
    return this.models.find((model) => model.id === chosen) ?? this.models[0] ?? null;
  }

  /** Returns the model entry with an id. */
  model(id: string | null): ModelEntry | null {
    return this.models.find((model) => model.id === id) ?? null;
  }

  /** Changes settings. */
  async change(patch: SettingsPatch): Promise<void> {
    try {
      const snapshot = await call("app", "change_settings", { patch });
      await this.#set({ seq: this.#state?.seq ?? 0, snapshot });
    } catch (error) {
      toasts.fail(asApiError(error));
    }
  }

  /** Adds a web search provider, or changes one; returns whether that succeeded. */
  async saveSearch(draft: SearchProviderDraft): Promise<boolean> {
    return this.#reply(() => call("app", "save_search_provider", { draft }));
  }

  /** Removes a web search provider. */
  async removeSearch(kind: SearchProviderKind): Promise<boolean> {
    return this.#reply(() => call("app", "remove_search_provider", { kind }));
  }

  /** Sets the order in which providers are tried. */
  async orderSearch(order: SearchProviderKind[]): Promise<boolean> {
    return this.#reply(() => call("app", "order_search_providers", { order }));
  }

  async #reply(ask: () => Promise<SettingsSnapshot>): Promise<boolean> {
    try {
      await this.#set({ seq: this.#state?.seq ?? 0, snapshot: await ask() });
      return true;
    } catch (error) {
      toasts.fail(asApiError(error));
      return false;
    }
  }

  /** Reloads settings and models after a request that changed them. */
  async refresh(): Promise<void> {
    const snapshot = await call("app", "get_settings", {});
    await this.#set({ seq: this.#state?.seq ?? 0, snapshot });
  }
}

/** This window's settings. */
export const preferences = new Preferences();
