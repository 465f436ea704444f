import { forbiddenError } from "../../access/authorization/forbidden.ts";
import type { ResourceRequestCall } from "./endpoint.ts";

/**
 * Authorizes a PUT or an apply that is about to create the object, because permission to change objects is not enough.
 * @throws StatusError 403
 */
export async function authorizeCreate({ exchange, request, parts }: ResourceRequestCall): Promise<void> {
  const attributes = { ...request, verb: "create" };
  const decision = await parts.authorizer.authorize(exchange.user, attributes);
  if (decision.kind !== "allow") throw forbiddenError(exchange.user, attributes, decision.reason);
}
