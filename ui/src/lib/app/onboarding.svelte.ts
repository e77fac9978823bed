/** Onboarding while it is on screen. The core stores the step and the answers, never a key, so that it can resume. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, Onboarding, OnboardingStep, PersonaFile, PersonaKind } from "$lib/ipc/types";
import { NOTHING, STEPS, after, before, beginning, isPlain } from "$lib/state/onboarding";
import { t } from "$lib/words/words.svelte";
import { ModelEdit } from "./model-edit.svelte";
import { navigation } from "./navigation.svelte";
import { preferences } from "./preferences.svelte";
import { toasts } from "./toasts.svelte";

/** How long typing must pause before the answers are stored, in milliseconds. */
const PAUSE = 400;

export class OnboardingRun {
  step = $state<OnboardingStep>("model");
  name = $state("");
  manner = $state<Onboarding["manner"]>("professional");
  mannerWords = $state("");
  about = $state("");
  /** SOUL.md and USER.md as edited by the person; null while they follow the answers. */
  soul = $state<string | null>(null);
  user = $state<string | null>(null);
  folder = $state("");
  readonly edit = new ModelEdit(null);
  /** The current SOUL.md and USER.md; null until loaded. */
  persona = $state.raw<readonly PersonaFile[] | null>(null);
  problem = $state.raw<ApiError | null>(null);
  saving = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #storedJson: string;
  #over = false;

  constructor() {
    const progress = preferences.settings?.onboarding ?? NOTHING;
    this.step = progress.step ?? beginning(navigator.languages);
    this.name = progress.name;
    this.manner = progress.manner;
    this.mannerWords = progress.manner_words;
    this.about = progress.about;
    this.soul = progress.soul;
    this.user = progress.user;
    this.folder = progress.folder === "" ? (preferences.settings?.recent_folders[0] ?? "") : progress.folder;
    if (progress.model) {
      this.edit.preset = progress.model.preset;
      this.edit.protocol = progress.model.protocol;
      this.edit.address = progress.model.base_url;
      this.edit.model = progress.model.model;
    }
    this.#storedJson = JSON.stringify(this.answers);
  }

  /** The stored answers. */
  get answers(): Onboarding {
    const { preset, protocol, address, model } = this.edit;
    return {
      step: this.step,
      model: address === "" ? null : { preset, protocol, base_url: address, model },
      name: this.name,
      manner: this.manner,
      manner_words: this.mannerWords,
      about: this.about,
      soul: this.soul,
      user: this.user,
      folder: this.folder,
    };
  }

  get at(): number {
    return STEPS.indexOf(this.step);
  }

  go(step: OnboardingStep): void {
    this.step = step;
    void this.flush();
  }

  next(): void {
    const step = after(this.step);
    if (step) this.go(step);
  }

  back(): void {
    const step = before(this.step);
    if (step) this.go(step);
  }

  /** Stores the answers once typing pauses. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), PAUSE);
  }

  /** Stores them now. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    const onboarding = this.answers;
    const next = JSON.stringify(onboarding);
    if (this.#over || next === this.#storedJson) return;
    this.#storedJson = next;
    await preferences.change({ onboarding });
  }

  /** Ends onboarding, finished or skipped. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    this.#over = true;
    await preferences.change({ welcomed: true, onboarding: { ...NOTHING } });
  }

  /** Suspends it for the demo; the answers are kept for the next time. */
  async rest(): Promise<void> {
    clearTimeout(this.#timer);
    this.#over = true;
    await preferences.change({ welcomed: true, onboarding: { ...this.answers, step: null } });
  }

  /** Leaves it for the page where a session starts. */
  async leave(): Promise<void> {
    const { folder } = this;
    await this.end();
    navigation.fresh(folder.trim() === "" ? null : folder.trim());
  }

  /** Loads the current SOUL.md and USER.md. */
  async readPersona(): Promise<void> {
    this.problem = null;
    try {
      this.persona = (await call("memory", "get_persona", {})).files;
    } catch (error) {
      this.problem = asApiError(error);
    }
  }

  /** SOUL.md according to the answers; empty if Octo's default applies. */
  get proposedSoul(): string {
    if (isPlain({ name: this.name, manner: this.manner, soul: null })) return "";
    const name = this.name.trim();
    const manner = this.manner === "own" ? this.mannerWords.trim() : t(`onboarding.manner.${this.manner}.text`);
    return [name === "" ? "" : t("onboarding.soul.name", { name }), manner, t("onboarding.soul.honest")]
      .filter((part) => part !== "")
      .join("\n\n");
  }

  /** Returns the proposed SOUL.md or USER.md. */
  proposal(kind: PersonaKind): string {
    const text = kind === "soul" ? this.soul : this.user;
    if (text !== null) return text;
    const proposed = kind === "soul" ? this.proposedSoul : this.about.trim();
    // The person's earlier text stays until they answer otherwise.
    return proposed === "" ? this.#present(kind) : proposed;
  }

  #present(kind: PersonaKind): string {
    return this.persona?.find((file) => file.kind === kind)?.text ?? "";
  }

  /** Whether approving would change anything. */
  get unsaved(): boolean {
    return this.#changed("soul") || this.#changed("user");
  }

  #changed(kind: PersonaKind): boolean {
    return this.persona !== null && this.proposal(kind).trim() !== this.#present(kind).trim();
  }

  /** Saves the two files as shown; returns whether that succeeded. */
  async savePersona(): Promise<boolean> {
    if (this.saving) return false;
    this.saving = true;
    this.problem = null;
    try {
      for (const kind of ["soul", "user"] as const) {
        if (!this.#changed(kind)) continue;
        const text = this.proposal(kind);
        this.persona = (await call("memory", "save_persona", { kind, text })).files;
      }
      return true;
    } catch (error) {
      this.problem = asApiError(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  /** Starts a session with a message and ends onboarding. */
  async start(text: string): Promise<boolean> {
    const { settings } = preferences;
    try {
      const info = await call("sessions", "start_session", {
        folder: this.folder.trim(),
        profile: settings?.default_profile ?? "general",
        mode: settings?.default_mode ?? "ask_risky",
        model: preferences.defaultModel?.id ?? null,
        blocks: [{ type: "text", text }],
      });
      await this.end();
      navigation.session(info.id);
      return true;
    } catch (error) {
      toasts.fail(error);
      return false;
    }
  }
}

/** Restarts onboarding from its first step, keeping the answers if it was left before its end. */
export async function setUpAgain(): Promise<void> {
  const answers = preferences.settings?.onboarding ?? NOTHING;
  await preferences.change({ onboarding: { ...answers, step: "language" } });
  navigation.welcome();
}
