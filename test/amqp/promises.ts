/**
 * What an AMQP client may expect, by the sections of docs/reference/amqp.md: each promise with the cases that show it, as
 * `file › case`. `npm run tables` writes the promises to the page.
 */
export const promises: Readonly<Record<string, readonly (readonly [promise: string, ...cases: string[]])[]>> = {
  Connecting: [
    [
      'A client that does not begin with the header of 0-9-1 gets that header, and the socket is closed.',
      't-wire › is answered with the right protocol header',
    ],
    [
      'The handshake, TLS included, has ten seconds; then the socket is closed without an error.',
      'slow-clients › are disconnected when their time is over, whatever they say, while another client is served',
      'tls › for a client that takes its time with both',
    ],
    [
      'connection.start offers PLAIN and AMQPLAIN, en_US, and nine capabilities; connection.tune offers 2047 channels, frames of 131,072 bytes and a heartbeat of 60 s.',
      't-wire › rule T2: the properties of the server, and its offers',
    ],
    [
      'Product, version and the other server properties are long strings.',
      'handshake › product, version and the other server properties are long strings',
    ],
    [
      'The server properties have a table `dlx_broker` with `version`, `delayed`, `replace`, `consumer_timeout` (milliseconds, 0 for none), `consumer_timeout_by_queue`, and `http` and `https` if the HTTP API is open; RabbitMQ has no such table.',
      'handshake › rule T9: only this server has a table dlx_broker, which clients of RabbitMQ ignore',
      'own-properties › rule T9: name the port of the HTTP API from the first connection on',
    ],
    [
      '`basic.replace` (60, 200) with a delivery tag: the next publish of the channel takes the place of that delivery, in one step; RabbitMQ has no such method.',
      'replace › is published and confirmed, and the delivery is acked',
      'replace-cuts › rule K14: a server that is killed has a message or its successor, never both (seed %i)',
    ],
    ['An unknown locale is accepted.', 'handshake › an unknown locale is accepted, and open-ok has an empty text'],
    ['AMQPLAIN carries a field table without its length.', 'handshake › AMQPLAIN is a field table without its length'],
    [
      'A refused login is a 403 for clients with the capability; the socket is closed after three seconds.',
      'handshake › a wrong password is a 403 at once for a client with the capability, and the socket ends after three seconds',
    ],
    [
      'For other clients, unknown mechanisms and garbage the socket is closed after three seconds without an answer.',
      'handshake › %s gets no answer, and the socket is closed after three seconds',
    ],
    [
      'After repeated failed logins a client waits, and a correct password is accepted; the log of the operator has the failures.',
      'logins › waits for its turn, and the right password is accepted',
      'logins › is reported to the operator in one line each, without the password',
    ],
    [
      'A frame_max below 4096 (8192 in profile 4) or above the offer, or a channel_max of 0 or above the offer, closes the socket without an answer.',
      'handshake › %s gets no answer',
    ],
    [
      'The heartbeat that the client asks for applies, also a longer one; 0 switches heartbeats off on both sides.',
      'handshake › a heartbeat above the offer is accepted',
      'liveliness › without heartbeats neither side sends any, and no client is dropped',
    ],
    [
      'A virtual host that does not exist, or that the user may not enter, is a 530 on connection.open.',
      't-wire › rule T3: a virtual host that is not there',
      'n-permissions › rule N1: a user without an entry for the virtual host cannot connect',
    ],
    ['update-secret is answered.', 'node-clients › updates its secret, recovers, and works in transactions (rule K8)'],
    [
      'The client properties, with the connection name, are shown in lists of connections.',
      'details › its name, its addresses, and the negotiated values',
    ],
    [
      'TLS 1.2 and 1.3 are accepted, older versions refused; with an authority for clients every client needs a certificate.',
      'tls › %s is accepted',
      'tls › a client with %s is refused',
    ],
  ],
  Frames: [
    [
      'Input may be cut anywhere, a byte at a time or hundreds of frames in one read.',
      'reader › in pieces of %i bytes',
      'over-amqp › random programs come to the same on the engine and on',
    ],
    [
      'Bodies are sent and accepted in frames of at most frame_max less eight bytes; empty frames are accepted.',
      't-wire › rule T6: bodies are cut to the frame-max, and may come in any number of frames, empty ones too',
    ],
    ['An empty body has no frame.', 't-wire › rule T6: an empty body has no body frame'],
    [
      'A payload as long as frame_max itself is accepted, as by RabbitMQ.',
      'frames › whose payload is as long as frame-max are accepted',
    ],
    [
      'A longer payload is a 501 as soon as its size is known.',
      'frames › that announce a payload above frame-max are refused before it arrives',
    ],
    [
      'Any of the fourteen properties keep their bytes as long as the broker does not change them.',
      'properties › go out byte for byte while they are unchanged, even where decoding loses something (rule H4)',
    ],
    [
      'Frames of other channels and heartbeats may come between the frames of a message.',
      'frames › of other channels may stand between those of a message',
    ],
    [
      'Requests of a channel are answered in their order, however many come in one write.',
      'frames › are answered in the order of the requests of a channel, however many come at once',
    ],
    ['Unused bits and tickets are ignored.', 'frames › may have bits set that mean nothing, and tickets of any number'],
    [
      'With no-wait there is no answer, but errors close the channel all the same.',
      't-wire › rule T7: with nowait there is no answer, but the deed is done',
      't-wire › rule T7: errors close the channel in spite of nowait',
    ],
    [
      'access.request is answered with ticket 1, channel.flow with active.',
      'frames › access.request is answered with ticket 1, channel.flow with what was asked',
    ],
    ['recover-async has no answer.', 'frames › recover-async has no answer'],
    [
      'Names that are not UTF-8 (except in `basic.publish`), arguments too short or too long, and unknown types of frames are a 501.',
      'violations › a name that is no UTF-8',
      'names-in-bytes › is a routing key in basic.publish, and comes back byte for byte',
      'violations › too many arguments',
      'violations › an unknown type',
    ],
    [
      'Any input causes at most protocol errors, at once and in constant memory.',
      'frame-fuzz › fails with nothing but protocol errors, at once, in flat memory',
      'connection-fuzz › clients send, the listener has no fault of its own and serves others',
    ],
  ],
  'Heartbeats, alarms, and clients that do not read': [
    [
      'The broker sends a heartbeat every half of the timeout, and drops a client that is silent for three of them.',
      'safety › are sent every half of the timeout, and a silent client is dropped after three of them',
    ],
    ['Any traffic counts as a sign of life.', 'liveliness › any traffic counts as a sign of life'],
    [
      'A heartbeat on a channel is a 505, a heartbeat with a payload a 501.',
      'violations › a heartbeat of a channel',
      'violations › a heartbeat that says something',
    ],
    ['channel.flow with active off is not implemented (540).', 'violations › a flow that stops'],
    [
      'While memory or disk is short, the broker does not read publishers, and sends connection.blocked.',
      'alarms › publishers wait and are notified, all other clients go on (connection.blocked)',
    ],
    [
      'Publishers continue when all alarms are over.',
      'alarms › a publisher waits until all alarms are over, and is notified of the first ones only',
    ],
    [
      'A publisher in the middle of a message is not read further either.',
      'unfinished-bodies › who is in the middle of a message is not read further, and goes on afterwards',
    ],
    [
      'The broker notices the end of a blocked publisher, also without heartbeats.',
      'endless-alarm › is found gone in its middle, without heartbeats: %s',
    ],
    [
      'An alarm that only unfinished messages keep raised ends: the connections that hold most of them are closed (506).',
      'endless-alarm › %s: those that hold most of it are closed with 506, and others go on',
      'endless-alarm › nothing is closed when the alarm would last without them',
    ],
    [
      'An unfinished body takes at most twice the bytes received, in frames of any size.',
      'unfinished-bodies › an unfinished body takes at most twice what has come, and a constant',
      'unfinished-bodies › empty frames take nothing, and do not keep others waiting',
    ],
    [
      'The unfinished messages of all channels of a connection have a bound (506).',
      'unfinished-bodies › have a bound of unfinished bodies, and one that exceeds it is closed with the reason (506)',
      'unfinished-bodies › headers whose body is still to come count, too',
    ],
    [
      'A body that will be refused is not kept; the error is sent when the body is complete.',
      'unfinished-bodies › it stays refused when the right comes in its middle: what is left of it is never published',
      'unfinished-bodies › the right is asked again when it is complete',
    ],
    [
      'Deliveries to a client that does not read pause; answers to a client that does not read are bounded.',
      'safety › is not buffered without bound, and others go on',
      'safety › is not answered without bound, and gets every answer once it reads',
      'safety › is not answered without bound: %s',
    ],
    [
      'A channel whose answer waits for the disk goes on with settlements; its other commands and publishes wait, and so does all that the connection sends behind them.',
      'late-answers › holds up neither settlements of its channel nor other channels, and publishes of its channel wait',
    ],
    [
      'An answer waits for output to its own connection, not for output to other connections.',
      'waiting › a client is answered while the flood of another one waits to go on',
    ],
  ],
  'Queues, deliveries, confirms': [
    [
      'Queues and consumers without a name get one from the broker.',
      'o-queues › rule O2: a queue without a name gets one of thirty characters',
      'q-consumers › rule Q1: consuming needs the queue; a consumer without a tag gets one',
    ],
    [
      'An empty name is the queue last declared on the channel; without one it is a 404.',
      'o-queues › rule O2: no name means the queue last declared on the channel',
      'o-queues › without a name fails when no queue was declared',
    ],
    [
      'Delivery tags count from 1 on each channel, including those of basic.get.',
      'q-consumers › rule Q7: delivery tags count over deliveries and gets, no-ack ones too; get tells how many are left',
    ],
    [
      'The end of a queue cancels its consumers; only clients with the capability get basic.cancel.',
      'q-consumers › rule Q6: the consumer of a deleted queue is cancelled',
      'frames › only clients that can hear it',
    ],
    [
      'Cancelling an unknown tag is answered; no delivery follows cancel-ok.',
      'q-consumers › rule Q1: cancelling an unknown tag is fine, and a cancelled tag may be used again',
      'waiting › no delivery comes behind cancel-ok',
    ],
    [
      'basic.qos is a limit for each later consumer, or, in profile 3.10, one for the channel.',
      'q-consumers › rule Q4: qos without global holds for consumers started later, each by itself',
      'q-consumers › rule Q4: qos with global is one limit for the channel; 0 lifts it; basic.get is never limited',
    ],
    [
      'Tag 0 with multiple covers all deliveries; an unknown tag is a 406.',
      'a-deaths › rule A3: tag 0 with multiple means everything outstanding',
      'a-deaths › rule A4: a tag that was settled already is unknown',
    ],
    [
      'Unacknowledged messages of a lost channel or connection return to their places, redelivered.',
      'j-order › rule J2: the loss of a channel and of a connection requeue in place',
      'safety › gives back what it had not acknowledged, in its old place, and takes its exclusive queues along',
    ],
    [
      'Confirms count from 1, and are grouped for a burst; a queue that refuses causes a nack.',
      'k-confirms › rule K1: numbers count from the first publish after confirm.select, per channel',
      'node-clients › gets a multiple ack for a burst (rule K3)',
      'c-length-limits › rule C7: reject-publish refuses the new message with a nack and dead-letters nothing',
    ],
    [
      'A mandatory message that no queue gets is returned before its ack.',
      'k-confirms › rule K4: a mandatory message without a queue is returned as published, before its ack',
    ],
    [
      'Returns and confirms of publishes are sent before the error of a later command.',
      'last-words › a return and its ack before a soft error',
    ],
    [
      'Direct reply-to works; the broker replaces the name by an address.',
      's-direct-reply-to › rule S1: the broker puts an address in place of the name, and answers to it arrive',
      's-direct-reply-to › rule S2: a declare of the address tells whether the requester lives',
    ],
    [
      'recover without requeue, a prefetch size and immediate are not implemented (540).',
      'q-consumers › rule Q5: recover redelivers what is outstanding; without requeue it is not implemented',
      'q-consumers › rule Q4: a prefetch size is not implemented',
      'k-confirms › rule K5: immediate is not implemented',
    ],
    [
      'Transactions hold publishes and settlements of a channel; a channel confirms or is in one.',
      'k-confirms › rule K8: publishes and settlements wait for the commit, publishes first',
      'k-confirms › rule K9: a channel cannot change between confirm and tx',
    ],
  ],
  'Errors that close a channel': [
    [
      '404 for an object that does not exist; deleting one, and unbinding what is not bound, succeeds.',
      'p-exchanges › rule P5: binding needs both ends',
      'o-queues › rule O6: deleting a missing queue is fine, purging it is not',
      'k-confirms › rule K6: a missing exchange closes the channel, and outstanding confirms never come',
      'p-exchanges › rule P5: binding twice is one binding; unbinding what is not there is fine',
    ],
    [
      "406 for a declaration that differs, with RabbitMQ's text.",
      'p-exchanges › rule P2: type comes before durable; other arguments are not compared; passive asks for existence only',
      'f-equivalence › rule F10: declared again with',
      'f-equivalence › rule F10: the flags are compared:',
    ],
    [
      '406 for invalid arguments; unknown ones are accepted.',
      'f-arguments › is refused: ',
      'f-arguments › rule F9: unknown arguments are accepted',
    ],
    [
      '406 for an invalid expiration, user-id or carbon copy.',
      'b-time-to-live › rule B3: the expiration',
      'k-confirms › rule K7: the user-id must be the login',
      'g-routing › that is no array is refused',
    ],
    [
      "405 for another connection's exclusive queue.",
      'o-queues › rule O4: everybody may publish to an exclusive queue',
    ],
    [
      '403 for reserved names, system exchanges, and missing permissions.',
      'o-queues › rule O3: names with amq. are reserved, but may be asked for',
      'p-exchanges › rule P3: the prefix amq. is reserved, and system exchanges stay',
      'n-permissions › rule N4: publishing needs write on the exchange',
    ],
    [
      'After the error the channel ignores everything until close-ok; then its number can be opened again.',
      't-wire › rule Q9: what comes after a soft error is ignored until close-ok, then the number can be opened again',
    ],
    [
      "Opening the number earlier is a 504; a close that crosses the server's close is answered behind it.",
      'frames › of a channel its number cannot be opened before close-ok',
      'last-words › and a close that crosses the one of the broker is answered behind it',
      'late-answers › is before the close-ok for a close that crosses it (rule Q9)',
    ],
  ],
  'Errors that close the connection': [
    [
      '503 for an unknown exchange type, and for methods that clients may not send.',
      'p-exchanges › an unknown type closes the connection, since 4 the channel',
      'violations › a method of servers',
    ],
    [
      '504 for a channel that is not open, or open already, and for methods on the wrong channel.',
      't-wire › rule T4: a channel must be opened',
      't-wire › rule T4: a channel is opened once',
      't-wire › rule T4: channel 0 is for the connection',
    ],
    [
      '505 for frames out of place.',
      't-wire › rule T5: a header where a method is due',
      'violations › a method where a body is due',
    ],
    [
      '530 for a consumer tag in use, and for too many channels; channel numbers may be any.',
      'q-consumers › rule Q1: a tag is used once per channel; other channels may use it',
      't-wire › rule T4: open channels are counted against the negotiated maximum',
      'frames › a channel may have any number, their count is what counts',
    ],
    [
      '540 for an unknown method, where RabbitMQ closes the socket without an error.',
      'frames › of an unknown type end the connection; RabbitMQ ends the socket without an error',
    ],
    ['541 for a field of an unknown type.', 'frames › a header with a field of an unknown type is an internal error'],
    [
      '320 when an operator or the shutdown of the broker closes the connection.',
      'details › a connection is closed by an operator with 320 and his words',
      'serve › says where it listens in one line, serves, and informs its clients when it is stopped',
    ],
    [
      'Clients treat 320 as an orderly end.',
      'node-clients › learns of the end by 320, which it takes as an orderly one',
    ],
    [
      'After the error everything but close-ok is ignored.',
      'frames › of a connection everything is ignored but close-ok',
    ],
  ],
  'Field tables': [
    [
      'A field of each type is delivered as it was published, alone and nested, also after a death.',
      'frames › comes back as it went, alone and in tables and arrays, also after a death',
    ],
    ['The type letter L is read as l.', 'properties › takes an L for an l (rule T8)'],
    [
      'Headers keep their order until the first death, which sorts them.',
      'h-message › rule H12: a message that never died keeps the order of its headers',
    ],
    [
      'The fields of x-death have a fixed order and fixed types.',
      'h-history › rule H5: an entry has its fields in this order',
    ],
    ['An x-death that is no array is replaced.', 'h-history › rule H11: an x-death of wire type'],
    [
      'Queue arguments accept every integer type; a comparison ignores the width.',
      'f-arguments › rule F9: a TTL may come as wire type',
      'f-equivalence › rule F11: a TTL of 100 as int64 equals 100 as wire type',
    ],
    ['A header may be called `__proto__`.', 'h-message › rule H4: a header called'],
    ['Tables may be nested 64 deep.', 'properties › may be 64 deep and no deeper'],
  ],
  'Clients of other projects': [
    [
      'amqplib publishes, consumes, rejects and finds the dead letter.',
      'node-clients › publishes, consumes, rejects, and finds the dead letter with its history (rule H5)',
    ],
    [
      'rabbitmq-client publishes with confirms, consumes and sends requests.',
      'node-clients › publishes with confirms, consumes, and asks by direct reply-to',
    ],
    [
      '@cloudamqp/amqp-client subscribes and binds exchanges.',
      'node-clients › publishes, subscribes and binds exchanges',
    ],
    [
      "Nest's own RabbitMQ client and server work.",
      'nest-rmq › Nest’s own RabbitMQ client and server work through the listener',
    ],
    [
      'pika and the amqp-tools work.',
      'other-clients › rejects a message and finds its dead letter as it was sent',
      'other-clients › declares, publishes, gets, consumes and deletes',
    ],
    [
      'The Java client works, with the programs of a guide to dead letters.',
      'java-guide › a message that is rejected goes to the dead-letter queue',
    ],
  ],
};
