import type { Authorizer } from "../../access/authorization/authorizer.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import type { PolicyObserver } from "./policy-observer.ts";
import type { RegistryFinder } from "./policy-set.ts";

/** The parts of the server that policies work with. */
export interface PolicyParts {
  readonly lookup: ObjectLookup;
  readonly catalog: Catalog;
  readonly registryOf: RegistryFinder;
  /** Answers the checks of expressions. */
  readonly authorizer: Authorizer;
  readonly policyObserver?: PolicyObserver | undefined;
}
