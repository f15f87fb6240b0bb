import { createBroker, deathsOf, fromFieldTable, longstr, noProperties, silentOutbox } from 'dlx-broker/engine';

const broker = createBroker();
const channel = broker.connect().openChannel({
  ...silentOutbox,
  deliver: ({ message, deliveryTag }) => {
    console.log(String(message.body), fromFieldTable(message.properties.headers ?? new Map())['x-first-death-queue']);
    for (const { queue, reason, count } of deathsOf(message.properties.headers)) console.log(queue, reason, count);
    channel.ack(deliveryTag);
  },
});
channel.declareExchange('shop.dlx', { type: 'fanout' });
channel.declareQueue('shop.dead');
channel.bindQueue('shop.dead', 'shop.dlx', '');
channel.declareQueue('shop', {
  arguments: new Map([
    ['x-dead-letter-exchange', longstr('shop.dlx')],
    ['x-max-length', { type: 'I', value: 0 }],
  ]),
});
channel.publish('', 'shop', noProperties, Buffer.from('tea'));
channel.consume('shop.dead');
broker.close();
