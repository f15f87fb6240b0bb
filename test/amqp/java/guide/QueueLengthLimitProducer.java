import com.rabbitmq.client.Address;
import com.rabbitmq.client.BuiltinExchangeType;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;

/** Publishes the lines it reads to a queue that has room for five. */
public class QueueLengthLimitProducer {
    public static void main(String[] args) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setPort(Integer.getInteger("amqp.port", 5672));
        Address[] addresses = { new Address("localhost", factory.getPort()) };
        try (Connection connection = factory.newConnection(addresses)) {
            Channel channel = connection.createChannel();
            channel.exchangeDeclare("length.limit.dl.exchange.test", BuiltinExchangeType.TOPIC);
            Map<String, Object> limits = new HashMap<>();
            limits.put("x-dead-letter-exchange", "length.limit.dl.exchange.test");
            limits.put("x-dead-letter-routing-key", "length.limit.dl.routing.key");
            limits.put("x-max-length", 5);
            channel.queueDeclare("length.limit.dl.queue.test", false, false, false, null);
            channel.queueBind("length.limit.dl.queue.test", "length.limit.dl.exchange.test", "#.length.limit.dl.routing.key");
            channel.queueDeclare("length.limit.queue.test", false, false, false, limits);
            channel.exchangeDeclare("length.limit.exchange.test", BuiltinExchangeType.TOPIC);
            channel.queueBind("length.limit.queue.test", "length.limit.exchange.test", "#.length.limit.routing.key");

            Scanner lines = new Scanner(System.in);
            System.out.print("> ");
            for (String line = lines.nextLine(); !line.equalsIgnoreCase("q"); line = lines.nextLine()) {
                channel.basicPublish("length.limit.exchange.test", "length.limit.routing.key", null,
                    line.getBytes(StandardCharsets.UTF_8));
                System.out.print("> ");
            }
            channel.close();
        }
    }
}
