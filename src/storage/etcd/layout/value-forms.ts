import type { Key } from "../../../api/entry.ts";
import type { GroupResource } from "../../../api/gvk.ts";
import type { ResourceInfo } from "../../../api/scheme/resource.ts";
import {
  masterLeasePrefix,
  quotaChargePrefix,
  rangePrefix,
  serverPrefix,
  takeoverPrefix,
} from "../../record-prefixes.ts";
import { allocationForm } from "./allocation-form.ts";
import { BuiltInForm, type StorageMediaType } from "./built-in-form.ts";
import { CustomForm, type FindKind } from "./custom-form.ts";
import { recordForm } from "./record-form.ts";
import { storedVersions } from "./stored-versions.ts";
import type { ValueForm } from "./value-form.ts";

/** The value at a key: its form and its resource. */
export interface Placed {
  readonly form: ValueForm;
  /** Undefined for records, which have no API. */
  readonly resource: GroupResource | undefined;
}

export interface ValueFormsParts {
  /** Every known version of every built-in kind, served or not. */
  readonly infos: readonly ResourceInfo[];
  readonly mediaType: StorageMediaType;
  readonly kindOf: FindKind;
}

/** Records that only servers of this program keep. */
const recordPrefixes: readonly Key[] = [serverPrefix, quotaChargePrefix, takeoverPrefix];

/** Groups whose values kube-apiserver writes as JSON, whatever the flag says: its aggregated servers have it so. */
const jsonGroups: ReadonlySet<string> = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);
/** Number of slashes in the longest prefix, as in `/registry/services/specs/`. */
const prefixSlashesMax = 4;

/** Finds the form of the value at each key. */
export class ValueForms {
  readonly #byPrefix = new Map<Key, Placed>();
  readonly #kindOf: FindKind;

  constructor({ infos, mediaType, kindOf }: ValueFormsParts) {
    this.#kindOf = kindOf;
    for (const [prefix, versions] of storedVersions(infos)) {
      const { group, resource, kind } = versions.info;
      const form = new BuiltInForm(versions, jsonGroups.has(group) ? "application/json" : mediaType);
      this.#byPrefix.set(prefix, { form, resource: { group, resource } });
      if (group === "" && kind === "Endpoints") this.#byPrefix.set(masterLeasePrefix, { form, resource: undefined });
    }
    this.#byPrefix.set(rangePrefix, { form: allocationForm, resource: undefined });
    for (const prefix of recordPrefixes) this.#byPrefix.set(prefix, { form: recordForm, resource: undefined });
  }

  /** Returns undefined for keys that this program leaves alone. */
  at(key: Key): Placed | undefined {
    const slashes = slashesIn(key);
    for (let at = slashes.length - 1; at >= 0; at--) {
      const found = this.#byPrefix.get(key.slice(0, (slashes[at] as number) + 1));
      if (found !== undefined) return found;
    }
    const [, first = 0, second = 0, third] = slashes;
    const group = key.slice(first + 1, second);
    if (third === undefined || !group.includes(".")) return undefined;
    // A definition may also use the group of built-in kinds, whose own keys are found above.
    const resource = { group, resource: key.slice(second + 1, third) };
    return { form: new CustomForm(resource, this.#kindOf), resource };
  }
}

function slashesIn(key: Key): number[] {
  const places: number[] = [];
  for (let at = key.indexOf("/"); at >= 0 && places.length < prefixSlashesMax; at = key.indexOf("/", at + 1)) {
    places.push(at);
  }
  return places;
}
