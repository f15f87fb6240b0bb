"""Rejects a message with pika and shows its dead letter: every header type pika can write comes back as it was sent."""
import datetime
import decimal
import sys

import pika

connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
channel.confirm_delivery()
channel.exchange_declare('pika-dlx', 'direct')
channel.queue_declare('pika-dead')
channel.queue_bind('pika-dead', 'pika-dlx', 'dead')
channel.queue_declare(
    'pika-work',
    arguments={'x-dead-letter-exchange': 'pika-dlx', 'x-dead-letter-routing-key': 'dead', 'x-message-ttl': 60000},
)
headers = {
    'text': 'é',
    'int': 7,
    'long': 2**40,
    'when': datetime.datetime(2026, 1, 1),
    'money': decimal.Decimal('3.14'),
    'list': [1, 'a', {'b': True}],
    'nothing': None,
}
properties = pika.BasicProperties(headers=headers, delivery_mode=2, message_id='m1', expiration='50000')
channel.basic_publish('', 'pika-work', b'one', properties, mandatory=True)
try:
    channel.basic_publish('', 'nobody', b'two', mandatory=True)
except pika.exceptions.UnroutableError as error:
    print('unroutable', error.messages[0].method.reply_code, error.messages[0].method.reply_text)
for method, _, body in channel.consume('pika-work', inactivity_timeout=5):
    channel.basic_reject(method.delivery_tag, requeue=False)
    print('rejected', body.decode())
    break
channel.cancel()
while True:
    method, got, body = channel.basic_get('pika-dead', auto_ack=True)
    if method is not None:
        break
death = got.headers['x-death'][0]
print('dead', body.decode(), method.exchange, method.routing_key, got.message_id, got.expiration)
print('same', all(got.headers[name] == value for name, value in headers.items()))
print('death', death['reason'], death['queue'], death['count'], death['original-expiration'], death['routing-keys'])
try:
    channel.queue_declare('pika-missing', passive=True)
except pika.exceptions.ChannelClosedByBroker as error:
    print('closed', error.reply_code, error.reply_text)
cleaning = connection.channel()
for queue in ('pika-work', 'pika-dead'):
    cleaning.queue_delete(queue)
cleaning.exchange_delete('pika-dlx')
connection.close()
