/**
 * The methods of AMQP 0-9-1 that the listener or the client uses, and `basic.replace`, an extension of dlx-broker (rule K14):
 * `class id`, then its methods as `name id direction arguments`. Clients send `<`, servers `>`, both `<>`. After it, `r` marks a method
 * that this library only reads, `w` one that it only writes. A dash marks a reserved argument: its value is ignored, and written as
 * 0 or empty.
 */
export const table = `
connection 10
  start 10 > versionMajor:octet versionMinor:octet serverProperties:table mechanisms:longstr locales:longstr
  start-ok 11 < clientProperties:table mechanism:shortstr response:longbytes locale:shortstr
  tune 30 > channelMax:short frameMax:long heartbeat:short
  tune-ok 31 < channelMax:short frameMax:long heartbeat:short
  open 40 < virtualHost:shortstr -capabilities:shortstr -insist:bit
  open-ok 41 > -knownHosts:shortstr
  close 50 <> replyCode:short replyText:shortstr classId:short methodId:short
  close-ok 51 <>w
  blocked 60 > reason:shortstr
  unblocked 61 >w
  update-secret 70 <r newSecret:longbytes reason:shortstr
  update-secret-ok 71 >w
channel 20
  open 10 < -outOfBand:shortstr
  open-ok 11 > -channelId:longstr
  flow 20 < active:bit
  flow-ok 21 <> active:bit
  close 40 <> replyCode:short replyText:shortstr classId:short methodId:short
  close-ok 41 <>w
access 30
  request 10 <r realm:shortstr exclusive:bit passive:bit active:bit write:bit read:bit
  request-ok 11 >w ticket:short
exchange 40
  declare 10 < -ticket:short exchange:shortstr type:shortstr passive:bit durable:bit autoDelete:bit internal:bit noWait:bit arguments:table
  declare-ok 11 >
  delete 20 < -ticket:short exchange:shortstr ifUnused:bit noWait:bit
  delete-ok 21 >
  bind 30 < -ticket:short destination:shortstr source:shortstr routingKey:shortstr noWait:bit arguments:table
  bind-ok 31 >
  unbind 40 <r -ticket:short destination:shortstr source:shortstr routingKey:shortstr noWait:bit arguments:table
  unbind-ok 51 >w
queue 50
  declare 10 < -ticket:short queue:shortstr passive:bit durable:bit exclusive:bit autoDelete:bit noWait:bit arguments:table
  declare-ok 11 > queue:shortstr messageCount:long consumerCount:long
  bind 20 < -ticket:short queue:shortstr exchange:shortstr routingKey:shortstr noWait:bit arguments:table
  bind-ok 21 >
  purge 30 <r -ticket:short queue:shortstr noWait:bit
  purge-ok 31 >w messageCount:long
  delete 40 < -ticket:short queue:shortstr ifUnused:bit ifEmpty:bit noWait:bit
  delete-ok 41 > messageCount:long
  unbind 50 <r -ticket:short queue:shortstr exchange:shortstr routingKey:shortstr arguments:table
  unbind-ok 51 >w
basic 60
  qos 10 < prefetchSize:long prefetchCount:short global:bit
  qos-ok 11 >
  consume 20 < -ticket:short queue:shortstr consumerTag:shortstr noLocal:bit noAck:bit exclusive:bit noWait:bit arguments:table
  consume-ok 21 > consumerTag:shortstr
  cancel 30 <> consumerTag:shortstr noWait:bit
  cancel-ok 31 <> consumerTag:shortstr
  publish 40 < -ticket:short exchange:shortstr routingKey:shortstr mandatory:bit immediate:bit
  return 50 > replyCode:short replyText:shortstr exchange:shortstr routingKey:shortstr
  deliver 60 > consumerTag:shortstr deliveryTag:longlong redelivered:bit exchange:shortstr routingKey:shortstr
  get 70 < -ticket:short queue:shortstr noAck:bit
  get-ok 71 > deliveryTag:longlong redelivered:bit exchange:shortstr routingKey:shortstr messageCount:long
  get-empty 72 > -clusterId:shortstr
  ack 80 <> deliveryTag:longlong multiple:bit
  reject 90 < deliveryTag:longlong requeue:bit
  recover-async 100 <r requeue:bit
  recover 110 <r requeue:bit
  recover-ok 111 >w
  nack 120 <> deliveryTag:longlong multiple:bit requeue:bit
  replace 200 < deliveryTag:longlong
confirm 85
  select 10 < noWait:bit
  select-ok 11 >
tx 90
  select 10 <r
  select-ok 11 >w
  commit 20 <r
  commit-ok 21 >w
  rollback 30 <r
  rollback-ok 31 >w
`;
