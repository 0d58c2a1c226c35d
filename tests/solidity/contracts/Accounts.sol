// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A mapping to structs: what holds of all entries, and of one.
contract Accounts {
    struct Account {
        uint balance;
        uint deadline;
        bool open;
    }

    mapping(address => Account) accounts;
    uint opened;

    function open(uint deadline) public {
        require(!accounts[msg.sender].open);
        require(deadline > 0);
        accounts[msg.sender] = Account(0, deadline, true);
        opened += 1;
        assert(accounts[msg.sender].open); // expect: safe
    }

    function deposit(uint amount) public {
        Account storage account = accounts[msg.sender];
        require(account.open);
        uint before = account.balance;
        account.balance += amount;
        assert(account.balance >= before); // expect: safe
    }

    function anyone(address who) public view {
        assert(!accounts[who].open || opened > 0); // expect: safe
        assert(accounts[who].balance == 0); // expect: unsafe
    }
}
