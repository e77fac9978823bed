/** Installation of skills from a folder, an archive or a repository: previewed, selected, installed. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, OfferedSkill, SkillOffer } from "$lib/ipc/types";
import { isSource } from "$lib/state/skills";
import { SvelteSet } from "svelte/reactivity";

export class SkillImport {
  from = $state("");
  offer = $state.raw<SkillOffer | null>(null);
  problem = $state.raw<ApiError | null>(null);
  busy = $state<"finding" | "installing" | null>(null);
  readonly chosen = new SvelteSet<string>();
  readonly ready = $derived(isSource(this.from.trim()) && this.busy === null);
  #turn = 0;

  /** Previews the source; installs nothing. */
  async find(): Promise<void> {
    if (!this.ready) return;
    const turn = ++this.#turn;
    this.busy = "finding";
    this.problem = null;
    this.offer = null;
    this.chosen.clear();
    try {
      const offer = await call("skills", "inspect_skills", { from: this.from.trim() });
      if (turn !== this.#turn) return;
      this.offer = offer;
      // Skills that replace another one are selected by hand.
      for (const skill of offer.skills) if (skill.error === null && skill.present === null) this.chosen.add(skill.name);
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    } finally {
      if (turn === this.#turn) this.busy = null;
    }
  }

  toggle(skill: OfferedSkill): void {
    if (skill.error !== null) return;
    if (!this.chosen.delete(skill.name)) this.chosen.add(skill.name);
  }

  /** Installs the selected skills; returns their names, or null on failure. */
  async install(): Promise<readonly string[] | null> {
    const { offer } = this;
    if (offer === null || this.chosen.size === 0 || this.busy !== null) return null;
    this.busy = "installing";
    this.problem = null;
    const picked = offer.skills.filter((skill) => skill.error === null && this.chosen.has(skill.name));
    try {
      const installed = await call("skills", "install_skills", {
        offer: offer.id,
        names: picked.map((skill) => skill.name),
        replace: picked.filter((skill) => skill.present !== null).map((skill) => skill.name),
      });
      this.offer = null;
      this.from = "";
      this.chosen.clear();
      return installed.names;
    } catch (error) {
      this.problem = asApiError(error);
      return null;
    } finally {
      this.busy = null;
    }
  }
}
