/** The secrets the agent may type by name: the list, and one being added. A value stays here until saved. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, SiteSecret } from "$lib/ipc/types";
import { toasts } from "./toasts.svelte";

export class SiteSecrets {
  list = $state.raw<readonly SiteSecret[] | null>(null);
  adding = $state(false);
  saving = $state(false);
  name = $state("");
  site = $state("");
  value = $state("");
  problem = $state.raw<ApiError | null>(null);
  readonly complete = $derived(this.name.trim() !== "" && this.site.trim() !== "" && this.value !== "");
  /** The secret that saving would replace. */
  readonly replaced = $derived(this.list?.find(({ name }) => name === this.name.trim()) ?? null);

  async read(): Promise<void> {
    try {
      this.list = (await call("browser", "list_site_secrets", {})).secrets;
    } catch (error) {
      this.problem = asApiError(error);
    }
  }

  open(): void {
    this.adding = true;
    this.problem = null;
  }

  close(): void {
    this.adding = false;
    this.problem = null;
    this.name = this.site = this.value = "";
  }

  async save(): Promise<void> {
    if (!this.complete || this.saving) return;
    this.saving = true;
    this.problem = null;
    try {
      const site = this.site.trim();
      // Accepts addresses without a scheme.
      const whole = /^[a-z]+:\/\//i.test(site) ? site : `https://${site}`;
      await call("browser", "save_site_secret", { name: this.name.trim(), site: whole, value: this.value });
      this.close();
    } catch (error) {
      this.problem = asApiError(error);
    } finally {
      this.saving = false;
    }
    await this.read();
  }

  async forget(secret: SiteSecret): Promise<void> {
    try {
      await call("browser", "forget_site_secret", { name: secret.name });
    } catch (error) {
      toasts.fail(error);
    }
    await this.read();
  }
}
