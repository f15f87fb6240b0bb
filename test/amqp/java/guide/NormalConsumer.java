import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.util.HashMap;
import java.util.Map;

/** Declares a queue with a dead-letter exchange, and rejects whatever comes. Runs until it is stopped. */
public class NormalConsumer {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setPort(Integer.getInteger("amqp.port", 5672));
        Connection connection = factory.newConnection();
        Channel channel = connection.createChannel();

        channel.exchangeDeclare("dl.exchange.test", BuiltinExchangeType.TOPIC);
        Map<String, Object> deadLettering = new HashMap<>();
        deadLettering.put("x-dead-letter-exchange", "dl.exchange.test");
        deadLettering.put("x-dead-letter-routing-key", "dl.routing.key");
        channel.queueDeclare("dl.queue.test", false, false, false, null);
        channel.queueBind("dl.queue.test", "dl.exchange.test", "#.dl.routing.key");
        channel.queueDeclare("normal.queue.test", false, false, false, deadLettering);
        channel.queueBind("normal.queue.test", "normal.exchange.test", "*.normal.routing.key");

        channel.basicConsume("normal.queue.test", false, (tag, delivery) -> {
            System.out.println("reject " + new String(delivery.getBody()));
            channel.basicReject(delivery.getEnvelope().getDeliveryTag(), false);
        }, tag -> System.out.println("cancelled " + tag));
    }
}
