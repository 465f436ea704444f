/** Field tracking cannot go on: the document does not have the form that the schema asks for, or has no other version. */
export class TrackingError extends Error {}
