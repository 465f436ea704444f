import { forbiddenError } from "../../access/authorization/forbidden.ts";
import type { ResourceRequestCall } from "./endpoint.ts";

/**
 * Called where a write to a name, a PUT or an apply, is about to create the object: whoever may change what is there may
 * not yet make what is not.
 * @throws StatusError 403
 */
export async function authorizeCreate({ exchange, request, parts }: ResourceRequestCall): Promise<void> {
  const attributes = { ...request, verb: "create" };
  const decision = await parts.authorizer.authorize(exchange.user, attributes);
  if (decision.kind !== "allow") throw forbiddenError(exchange.user, attributes, decision.reason);
}
