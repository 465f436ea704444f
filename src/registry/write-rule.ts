import type { FieldError } from "../api/field-error.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { type Eventual, followedBy } from "../process/eventual.ts";
import type { UserInfo } from "../request/user-info.ts";

/** A write, as far as rules about it see it. */
export interface RuledWrite {
  readonly object: KubeObject;
  /** The stored object; undefined for a new object. */
  readonly old: KubeObject | undefined;
  readonly namespace: string;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly user: UserInfo;
  /** Verb of the request; undefined for a write that the server makes itself. */
  readonly verb: string | undefined;
  /** Version of the request. */
  readonly version: string;
}

/** Returns the problems of a write that depend on other objects than the written one, or on its writer. */
export type WriteRule = (write: RuledWrite) => Eventual<readonly FieldError[]>;

/** Returns a rule that finds the problems of all rules, in their order; undefined if there are none. */
export function everyRule(rules: readonly (WriteRule | undefined)[]): WriteRule | undefined {
  const present = rules.filter((rule) => rule !== undefined);
  if (present.length < 2) return present[0];
  return (write) =>
    present.reduce<Eventual<readonly FieldError[]>>(
      (found, rule) => followedBy(found, (errors) => followedBy(rule(write), (further) => [...errors, ...further])),
      [],
    );
}
