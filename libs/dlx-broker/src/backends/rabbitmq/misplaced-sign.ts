/** A `#` between the scheme and an `@` is always a mistake. A `/` or a `?` is one only if the URL cannot be read. */
const sign = /^[a-z]+:\/\/(?:[^/?#]*(#)|[^/?#@]*([/?])).*@/is;

/**
 * Why a URL seems to have another host than the written one, or none: a sign in the password ends it, such as the `#` of
 * `amqp://user:pass#word@host`. Undefined for other URLs. The text shows nothing else of the password.
 */
export function misplacedSign(url: string): string | undefined {
  const [, hash, other] = sign.exec(url) ?? [];
  const found = hash ?? (URL.canParse(url) ? undefined : other);
  if (found === undefined) return undefined;
  const remedy = "in an application the option 'credentials' of rabbitmq() takes it as it is";
  return `has a '${found}' in its user or password, which is written ${encodeURIComponent(found)} (${remedy})`;
}
