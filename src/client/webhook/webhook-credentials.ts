import type { Clock } from "../../process/clock.ts";
import type { Eventual } from "../../process/eventual.ts";
import { readUserProofs, type UserProof } from "../kubeconfig.ts";

/** How this server proves to webhooks who it is. */
export interface WebhookCredentials {
  /** Proves nothing where no user is named for `host:port`. */
  proofFor(authority: string): Eventual<UserProof>;
}

export const noWebhookCredentials: WebhookCredentials = { proofFor: () => ({}) };

const defaultPort = ":443";

/**
 * Credentials from the users of a kubeconfig: a user is named after the `host:port` of a webhook, or `*.domain`, both
 * also without the port 443, or `*`; and else it is that of the current context.
 * @throws Error that says what is wrong with the file, without any credential
 */
export function kubeconfigWebhookCredentials(file: string, clock: Clock): WebhookCredentials {
  const { users, currentUser } = readUserProofs(file, clock);
  return {
    async proofFor(authority) {
      const names = namesOf(authority);
      const host = authority.endsWith(defaultPort) ? authority.slice(0, -defaultPort.length) : undefined;
      const all = [...names, ...(host === undefined ? [] : namesOf(host)), "*", currentUser];
      const found = all.find((name) => users.has(name));
      return (await users.get(found ?? "")?.()) ?? {};
    },
  };
}

/** The name itself, and with each of its leading labels replaced. */
function namesOf(target: string): string[] {
  const labels = target.split(".");
  return [target, ...labels.slice(1).map((_, at) => `*.${labels.slice(at + 1).join(".")}`)];
}
