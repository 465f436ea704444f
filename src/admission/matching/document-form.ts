import type { ObjectForm } from "../../api/scheme/object-form.ts";
import type { MatchedResource } from "./matched-resource.ts";

/** Returns the form of the documents of a request: a subresource may have its own. */
export function documentForm({ info }: MatchedResource, subresource: string): ObjectForm {
  return (subresource === "" ? undefined : info.subresources.get(subresource)?.form) ?? info.form;
}
