/** Skills of other agents: found, ticked, imported. Nothing is installed that was not ticked. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, IfNameTaken, OfferedSkill, OtherSkills, SkillsImported } from "$lib/ipc/types";
import { SvelteMap, SvelteSet } from "svelte/reactivity";

/** What a skill of a folder is kept by. */
export function keyOf(folder: OtherSkills, skill: OfferedSkill): string {
  return `${folder.offer} ${skill.name}`;
}

export class OtherSkillsImport {
  /** The folders that hold any; null before they were looked for. */
  folders = $state.raw<readonly OtherSkills[] | null>(null);
  looking = $state(false);
  importing = $state(false);
  problem = $state.raw<ApiError | null>(null);
  /** What came of the last import. */
  done = $state.raw<SkillsImported | null>(null);
  readonly ticked = new SvelteSet<string>();
  /** What happens to a skill of the person's with the same name; the one that loses nothing where they said nothing. */
  readonly #taken = new SvelteMap<string, IfNameTaken>();
  #picked: string | null = null;

  /** Looks in the usual places, and in a folder the person picked. */
  async look(picked: string | null = this.#picked): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    this.problem = null;
    this.#picked = picked;
    try {
      this.folders = (await call("skills", "find_other_skills", { folder: picked })).folders;
      this.ticked.clear();
      this.#taken.clear();
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.looking = false;
    }
  }

  /** How many skills there are in all folders. */
  get count(): number {
    return (this.folders ?? []).reduce((sum, folder) => sum + folder.skills.length, 0);
  }

  toggle(folder: OtherSkills, skill: OfferedSkill): void {
    if (skill.error !== null) return;
    const key = keyOf(folder, skill);
    if (!this.ticked.delete(key)) this.ticked.add(key);
  }

  /** Ticks all of a folder that can be imported and replace nothing; once they are, takes the ticks away. */
  toggleAll(folder: OtherSkills): void {
    const free = folder.skills.filter((skill) => skill.error === null && skill.present === null);
    const all = free.every((skill) => this.ticked.has(keyOf(folder, skill)));
    for (const skill of free) {
      if (all) this.ticked.delete(keyOf(folder, skill));
      else this.ticked.add(keyOf(folder, skill));
    }
  }

  taken(folder: OtherSkills, skill: OfferedSkill): IfNameTaken {
    return this.#taken.get(keyOf(folder, skill)) ?? "rename";
  }

  decide(folder: OtherSkills, skill: OfferedSkill, taken: IfNameTaken): void {
    this.#taken.set(keyOf(folder, skill), taken);
  }

  /** Imports what was ticked; whether that could be asked for at all. */
  async import(): Promise<boolean> {
    if (this.importing || this.ticked.size === 0) return false;
    this.importing = true;
    this.problem = null;
    const choices = (this.folders ?? []).flatMap((folder) =>
      folder.skills
        .filter((skill) => this.ticked.has(keyOf(folder, skill)))
        // Keeping one's own is importing nothing.
        .filter((skill) => skill.present === null || this.taken(folder, skill) !== "keep")
        .map((skill) => ({
          offer: folder.offer,
          name: skill.name,
          taken: skill.present === null ? ("keep" as const) : this.taken(folder, skill),
        })),
    );
    try {
      this.done =
        choices.length === 0 ? { names: [], refused: [] } : await call("skills", "import_skills", { choices });
      await this.look();
      return true;
    } catch (error) {
      this.problem = asApiError(error);
      return false;
    } finally {
      this.importing = false;
    }
  }
}
