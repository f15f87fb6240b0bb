/** Replaces the names a broker makes up. */
export const plainNames = (text: string): string =>
  text
    .replace(/amq\.gen-[\w-]{22}/g, 'amq.gen-NAME')
    .replace(/amq\.ctag-[\w-]{22}/g, 'amq.ctag-NAME')
    .replace(/amq\.rabbitmq\.reply-to\.[\w+/=.-]+/g, 'amq.rabbitmq.reply-to.TOKEN');
