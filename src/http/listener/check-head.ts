import { status } from "../../api/status.ts";
import type { RequestHead } from "./received-request.ts";

/** The characters that a host, an address and a port consist of. */
const hostForm = /^[A-Za-z0-9!$%&'()*+,\-.:;=[\]_~]*$/;
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * Refuses heads that two programs could interpret differently, before anything uses them.
 * @throws StatusError 400 or 405
 */
export function checkHead({ method, rawPath, headers, httpVersion }: RequestHead): void {
  if (!methods.has(method)) throw status.methodNotAllowed();
  if (rawPath.charCodeAt(0) !== 0x2f) throw status.badRequest("the request target must start with a slash");
  let hosts = 0;
  let authorizations = 0;
  for (const [name, value] of headers) {
    if (name === "host") {
      hosts++;
      if (!hostForm.test(value)) throw status.badRequest("malformed Host header");
    }
    if (name === "authorization") authorizations++;
    else if (name === "transfer-encoding" && value.toLowerCase() !== "chunked") {
      throw status.badRequest("the only supported transfer encoding is chunked");
    }
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1"))
    throw status.badRequest("a request must have exactly one Host header");
  if (authorizations > 1) throw status.badRequest("more than one Authorization header");
}
