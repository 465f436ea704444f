import type { LabelSelector } from "../../api/label-selector.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  ValidatingWebhook,
  WebhookClientConfig,
} from "../../api/types/admissionregistration-v1.ts";
import type { Eventual } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import type { MatchCondition } from "../expressions/match-conditions.ts";
import type { MatchPolicy } from "../matching/matched-resource.ts";
import { type AdmissionRule, admissionRule } from "../matching/rule.ts";
import { selectorOf } from "../matching/selectors.ts";
import { PolicyCompiler } from "../policies/compile-policy.ts";

/** A webhook of a configuration, read once. */
export interface AdmissionWebhook {
  readonly name: string;
  readonly configuration: string;
  /** Names the webhook among those of its configuration, which may have equal names. */
  readonly key: string;
  /** Like `key`, but also names the revision of the configuration. */
  readonly revisionKey: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules: readonly AdmissionRule[];
  readonly matchPolicy: MatchPolicy;
  readonly ignoresFailures: boolean;
  /** Undefined for a selector that cannot be read, which selects nothing. */
  readonly namespaceSelector: LabelSelector | undefined;
  readonly objectSelector: LabelSelector | undefined;
  /** Compiled when a request first needs them. */
  readonly conditions: () => Eventual<readonly MatchCondition[]>;
  readonly hasConditions: boolean;
  readonly sideEffects: string | undefined;
  readonly timeoutMs: number;
  readonly reviewVersions: readonly string[];
  readonly isReinvoked: boolean;
}

const timeoutSecondsDefault = 10;

/** Returns the webhooks of configurations in the order in which they are called: by the name of the configuration. */
export function webhooksOf(configurations: readonly KubeObject[]): AdmissionWebhook[] {
  const sorted = configurations.toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  return sorted.flatMap((configuration) => {
    const { name = "", uid = "", generation = 0 } = configuration.metadata;
    const counts = new Map<string, number>();
    return ((configuration as MutatingWebhookConfiguration).webhooks ?? []).map((webhook) => {
      const count = counts.get(webhook.name) ?? 0;
      counts.set(webhook.name, count + 1);
      const place = `${webhook.name}/${count}`;
      return readWebhook(webhook, {
        configuration: name,
        key: `${name}/${place}`,
        revisionKey: `${uid}/${generation}/${place}`,
      });
    });
  });
}

function readWebhook(
  webhook: MutatingWebhook | ValidatingWebhook,
  names: Pick<AdmissionWebhook, "configuration" | "key" | "revisionKey">,
): AdmissionWebhook {
  const { matchConditions = [] } = webhook;
  let conditions: Eventual<readonly MatchCondition[]> | undefined;
  return {
    name: webhook.name,
    ...names,
    clientConfig: webhook.clientConfig,
    rules: (webhook.rules ?? []).map(admissionRule),
    matchPolicy: webhook.matchPolicy === "Exact" ? "Exact" : "Equivalent",
    ignoresFailures: webhook.failurePolicy === "Ignore",
    namespaceSelector: selectorOf(webhook.namespaceSelector),
    objectSelector: selectorOf(webhook.objectSelector),
    conditions: () => (conditions ??= runSliced(new PolicyCompiler(false).conditions(matchConditions))),
    hasConditions: matchConditions.length > 0,
    sideEffects: webhook.sideEffects ?? undefined,
    timeoutMs: (webhook.timeoutSeconds ?? timeoutSecondsDefault) * 1_000,
    reviewVersions: webhook.admissionReviewVersions ?? [],
    isReinvoked: "reinvocationPolicy" in webhook && webhook.reinvocationPolicy === "IfNeeded",
  };
}
